//! Processes: fork, exec and exit.

use core::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot};

use super::{interpose, tap, threads};
use crate::{arena, channel, control, event, fork, number, real, signal, sys, thread};

/// Takes an entry for the child before the fork, so that parent and child know its number.
///
/// # Safety
/// `real` forks the process and returns the result of `fork`.
unsafe fn forking(pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    channel::internal::share();
    // SAFETY: the slot is the current thread's.
    unsafe {
        let Some(slot) = thread::recorded() else { return real() };
        let taken = arena::take_process();
        let number = taken.map_or_else(|| nobody(0), |it| it as usize);
        event::put(slot, Kind::ProcessFork, pc, number, &[]);
        fork::set_next_process(Some(taken));
        let number_before = number::next(slot);
        let result = real();
        fork::set_next_process(None);
        if result > 0 {
            // Whoever waits for the child comes after this.
            let channel = channel::of_process(result) as usize;
            event::note_at(slot, Kind::Send, pc, channel, number_before, &[1]);
        }
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
    // SAFETY: guaranteed by the caller; libc runs the runtime's fork handler in the child.
    unsafe { forking(pc, || real::fork()()) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn bare_fork(pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller; `_Fork` does not run fork handlers, so the runtime calls
    // its own.
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

/// Defines functions that record an event and continue with the real one; the event's address is
/// derived from the first argument.
macro_rules! passing {
    ($($name:ident, $kind:expr, $with:ident;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        #[allow(non_snake_case, reason = "named as in libc")]
        unsafe extern "C" fn $name(pc: usize, argument: usize) -> usize {
            if let Some(slot) = thread::recorded() {
                // SAFETY: the slot is the current thread's.
                unsafe { event::put(slot, $kind, place(slot, $kind, pc), $with(argument), &[]) };
                if $kind == Kind::Exec {
                    signal::open_gate();
                }
            }
            real::$name() as *const () as usize
        }
        tap! { $name => $name; }
    )* };
}

/// The place of an event: where an exception was thrown that nothing catches, instead of where the library aborts.
///
/// # Safety
/// The slot is the current thread's.
unsafe fn place(slot: *mut ThreadSlot, kind: Kind, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    let thrown = unsafe { (*thread::own(slot)).thrown };
    if kind == Kind::Abort && thrown != 0 { thrown } else { pc }
}

/// Stores an exit status in the arena, where the recorder can read it after the process has gone.
fn status(argument: usize) -> usize {
    let status = argument as u32 & 0xff;
    let process = arena::process();
    // A child of `vfork` runs in this memory, but its exit is not the exit of this process.
    if process.pid.load(Ordering::Relaxed) == sys::process_id() {
        process.exiting.store(status + 1, Ordering::Release);
    }
    status as usize
}

/// The last exit handler: a `main` that returns does not call the intercepted `exit`. If exit handlers or destructors
/// have done something, it is another event: without one, no other thread could run after what they did, such as to
/// free memory that the thread uses.
///
/// # Safety
/// Called by libc when the process exits.
pub unsafe extern "C" fn exiting(code: c_int, _: *mut c_void) {
    if !arena::is_open() {
        return;
    }
    let status = status(code as usize);
    let before = LEFT.load(Ordering::Relaxed);
    let slot = thread::recorded().filter(|_| before != 0 && outlives());
    if let Some(slot) = slot {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if (*slot).steps != before {
                event::put(slot, Kind::Exit, exiting as *const () as usize + 1, status, &[]);
            }
        }
    }
}

/// The number of events of the thread that ended the program when [`leaving`] had been called.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// The number of a child that `vfork` creates, which has no trace.
fn child(_: usize) -> usize {
    channel::internal::share();
    nobody(0)
}

/// Whether a thread may outlive the one that ends the program, in a controlled run.
fn outlives() -> bool {
    control::is_on() && !threads::are_all_joined()
}

/// An exit handler of controlled runs: a `main` that returns while other threads may be alive comes to an
/// event here, so that these threads can run before the process ends. It is registered when the
/// first thread is created. Therefore it is called before the destructors of static objects, which
/// those threads may use.
///
/// # Safety
/// Called by libc when the process exits.
unsafe extern "C" fn leaving(code: c_int, _: *mut c_void) {
    if !arena::is_open() || !outlives() {
        return;
    }
    let is_recorded = arena::process().exiting.load(Ordering::Relaxed) != 0;
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if !is_recorded {
                let (pc, status) = (leaving as *const () as usize + 1, status(code as usize));
                event::put(slot, Kind::Exit, pc, status, &[]);
            }
            LEFT.store((*slot).steps, Ordering::Relaxed);
        }
    }
}

/// Whether [`leaving`] is registered.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Registers the handler that lets other threads run before the process ends.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn watch_exit(slot: *mut ThreadSlot) {
    if control::is_on() && !IS_WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the slot is the current thread's; libc calls the handler once.
        unsafe { thread::quietly(slot, || real::on_exit(leaving, core::ptr::null_mut())) };
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
    // The child of `vfork` uses the parent's memory and slot while the parent sleeps. Its accesses
    // affect the parent's memory, so they are recorded as this thread's.
    vfork, Kind::ProcessFork, child;
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
