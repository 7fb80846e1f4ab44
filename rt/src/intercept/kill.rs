//! Sending signals. Whoever sends a signal does so before its handler runs, and before another thread
//! receives it. A signal to the own thread, or to the own process, may be handled before the call
//! returns: a second event says so.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, receipt};

use super::{futex, interpose};
use crate::{
    channel::{
        self, Sending,
        signal::{of_handled, of_signal},
    },
    control, event, handle, real, signal as gate, sys, thread, thread_id,
};

/// Where a signal is sent to.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// The thread that sends it.
    Itself,
    /// The thread with this number.
    Thread(u32),
    /// This process.
    Process,
    /// Other processes.
    Others,
}

/// Makes a call that sends a signal, and records it.
///
/// # Safety
/// As for the call.
unsafe fn sending(target: Target, signal: c_int, pc: usize, call: impl FnOnce() -> c_int) -> c_int {
    let Some(slot) = thread::recorded() else { return call() };
    if target == Target::Others || signal == 0 {
        return call();
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let root = gate::root(slot);
        let number = (*root).head.thread;
        let thread = match target {
            Target::Itself => Some(number),
            Target::Thread(other) => Some(other),
            Target::Process | Target::Others => None,
        };
        let handled = (*thread::own(root)).handled;
        let sending = Sending::new(slot, of_signal(signal, thread), pc);
        let result = call();
        let error = if result == 0 { None } else { Some(real::errno()) };
        sending.done(error.is_none().then_some(1), error.unwrap_or(0));
        if result == 0 {
            match thread {
                Some(thread) => gate::sent_to_thread(thread, signal),
                None => gate::sent_to_process(signal),
            }
            control::look_again();
        }
        if thread.is_none_or(|it| it == number) {
            control::await_handler(slot, pc);
            let ran = (*thread::own(root)).handled != handled;
            note_handled(slot, ran.then_some(number), pc);
        }
        result
    }
}

/// Records that a thread continues after a handler on it, if one has run.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn note_handled(slot: *mut ThreadSlot, thread: Option<u32>, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match thread {
            Some(it) => {
                channel::before(slot, Kind::Receive, pc, of_handled(it));
                let channel = of_handled(it) as usize;
                event::note(slot, Kind::Receive, pc, channel, &[1, receipt::LATEST]);
            }
            None => {
                channel::before(slot, Kind::NotReady, pc, 0);
                event::note(slot, Kind::NotReady, pc, 0, &[]);
            }
        }
    }
}

/// Whether a process id, as `kill` takes it, means this process and perhaps others.
fn process(id: c_int) -> Target {
    let own = id == 0 || id == -1 || id == sys::process_id() as c_int;
    if own { Target::Process } else { Target::Others }
}

fn thread_of(handle: usize) -> Target {
    // SAFETY: the function has no preconditions.
    if handle == unsafe { real::pthread_self() } {
        return Target::Itself;
    }
    handle::number_of(handle).map_or(Target::Others, Target::Thread)
}

/// The thread with one of the kernel's ids.
fn thread_with(id: c_int) -> Target {
    if id == sys::thread_id() as c_int {
        return Target::Itself;
    }
    control::number_of(id as u32).map_or(Target::Others, Target::Thread)
}

/// Defines functions that send a signal; the second argument is the signal.
macro_rules! sends {
    ($($name:ident($to:ident: $type:ty $(, $more:ident: $more_type:ty)*) => $target:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(
            $to: $type,
            signal: c_int,
            $($more: $more_type,)*
            pc: usize,
        ) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe { sending($target, signal, pc, || real::$name()($to, signal, $($more),*)) }
        }
    )* };
}

sends! {
    killpg(id: c_int) => process(if id == 0 { 0 } else { -id });
    sigqueue(id: c_int, value: usize) => process(id);
    pthread_kill(handle: usize) => thread_of(handle);
    pthread_sigqueue(handle: usize, value: usize) => queued(thread_of(handle));
}

/// The kernel's information does not tell that a queued signal was sent to a thread.
fn queued(target: Target) -> Target {
    if target == Target::Others { Target::Others } else { Target::Process }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn kill(id: c_int, signal: c_int, pc: usize) -> c_int {
    let id = thread_id::to_kernel(id);
    // SAFETY: guaranteed by the caller.
    unsafe { sending(process(id), signal, pc, || real::kill()(id, signal)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn raise(signal: c_int, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { sending(Target::Itself, signal, pc, || real::raise()(signal)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn tgkill(
    process: c_int,
    thread: c_int,
    signal: c_int,
    pc: usize,
) -> c_int {
    let thread = thread_id::to_kernel(thread);
    let ours = process == sys::process_id() as c_int;
    let target = if ours { thread_with(thread) } else { Target::Others };
    // SAFETY: guaranteed by the caller.
    unsafe { sending(target, signal, pc, || real::tgkill()(process, thread, signal)) }
}

/// The system calls behind these functions, which a program may call by their numbers.
pub const KILL: usize = 62;
pub const TKILL: usize = 200;
pub const TGKILL: usize = 234;

/// # Safety
/// As for `syscall` with one of the numbers above.
pub unsafe extern "C-unwind" fn system_call(
    number: usize,
    first: c_int,
    second: c_int,
    third: c_int,
) -> core::ffi::c_long {
    // The last argument is not an id if the call has three, and is not used otherwise.
    let (first, second) = match number {
        TGKILL => (first, thread_id::to_kernel(second)),
        _ => (thread_id::to_kernel(first), second),
    };
    let (target, signal) = match number {
        KILL => (process(first), second),
        TKILL => (thread_with(first), second),
        _ => (thread_with(second), third),
    };
    let arguments = [first as usize, second as usize, third as usize, 0, 0, 0];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let pc = thread::recorded().map_or(0, |it| (*thread::own(it)).call_pc);
        let call = || futex::result(sys::call(number, arguments) as core::ffi::c_long) as c_int;
        core::ffi::c_long::from(sending(target, signal, pc, call))
    }
}

interpose! {
    kill(2) => kill;
    killpg(2) => killpg;
    raise(1) => raise;
    tgkill(3) => tgkill;
    sigqueue(3) => sigqueue;
    pthread_kill(2) => pthread_kill;
    pthread_sigqueue(3) => pthread_sigqueue;
}
