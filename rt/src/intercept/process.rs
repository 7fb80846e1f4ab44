//! Processes: fork, exec and the ways to end.

use core::{
    ffi::{c_int, c_void},
    sync::atomic::Ordering,
};

use norn_abi::Kind;

use super::{interpose, tap};
use crate::{arena, event, fork, real, sys, thread};

/// Takes an entry for the child before there is one, so that parent and child know its number.
///
/// # Safety
/// `real` forks the process and returns what `fork` does.
unsafe fn forking(pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let Some(slot) = thread::recorded() else { return real() };
        let taken = arena::take_process();
        let number = taken.map_or_else(|| nobody(0), |it| it as usize);
        event::put(slot, Kind::ProcessFork, pc, number, &[]);
        fork::set_next_process(Some(taken));
        let result = real();
        fork::set_next_process(None);
        match (result, taken) {
            (0, _) | (1.., None) => {}
            (..0, _) => arena::cancel_process(taken),
            (child, Some(number)) => arena::announce_process(number, child as u32),
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fork(pc: usize) -> c_int {
    // SAFETY: as the caller called it; libc runs our handler in the child.
    unsafe { forking(pc, || real::fork()()) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn bare_fork(pc: usize) -> c_int {
    // SAFETY: as the caller called it; libc does not run handlers for this one, so we do.
    unsafe {
        forking(pc, || {
            let result = real::_Fork()();
            if result == 0 {
                fork::after_fork();
            }
            result
        })
    }
}

interpose! {
    fork(0) => fork;
    _Fork(0) => bare_fork;
}

/// Defines functions that record an event and go on: the address is the first argument or not.
macro_rules! passing {
    ($($name:ident, $kind:expr, $with:ident;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        #[allow(non_snake_case, reason = "named as in libc")]
        unsafe extern "C" fn $name(pc: usize, argument: usize) -> usize {
            if let Some(slot) = thread::recorded() {
                // SAFETY: the slot is the current thread's.
                unsafe { event::put(slot, $kind, pc, $with(argument), &[]) };
            }
            real::$name() as *const () as usize
        }
        tap! { $name => $name; }
    )* };
}

/// An exit status, noted where the recorder sees it even if this process's memory is gone.
fn status(argument: usize) -> usize {
    let status = argument as u32 & 0xff;
    let process = arena::process();
    // A child of `vfork` runs in our memory, but it is not us who exits.
    if process.pid.load(Ordering::Relaxed) == sys::process_id() {
        process.exiting.store(status + 1, Ordering::Release);
    }
    status as usize
}

/// Runs last of all exit handlers; a `main` that returns does not come through our `exit`.
///
/// # Safety
/// Called by libc when the process exits.
pub unsafe extern "C" fn exiting(code: c_int, _: *mut c_void) {
    if arena::is_open() {
        status(code as usize);
    }
}

/// The number of a process that has no trace.
fn nobody(_: usize) -> usize {
    u32::MAX as usize
}

fn nothing(_: usize) -> usize {
    0
}

passing! {
    // The child of `vfork` borrows our memory and our slot; the parent sleeps meanwhile. What
    // the child does to memory it does to ours, so it is recorded as this thread's.
    vfork, Kind::ProcessFork, nobody;
    execve, Kind::Exec, nothing;
    execv, Kind::Exec, nothing;
    execvp, Kind::Exec, nothing;
    execvpe, Kind::Exec, nothing;
    execl, Kind::Exec, nothing;
    execlp, Kind::Exec, nothing;
    execle, Kind::Exec, nothing;
    fexecve, Kind::Exec, nothing;
    exit, Kind::Exit, status;
    _exit, Kind::Exit, status;
    _Exit, Kind::Exit, status;
    quick_exit, Kind::Exit, status;
    abort, Kind::Abort, nothing;
}
