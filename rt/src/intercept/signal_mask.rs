//! The signals that a thread blocks, and waiting for signals. In a controlled run the runtime blocks
//! more than the program does ([`gate`]), so that these functions use what the program knows.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot};

use super::{interpose, io::controlled, kill::note_handled, sleep::length};
use crate::{
    channel::{self, signal::source},
    control::{self, NEVER},
    event, real, signal as gate, sys, thread,
};

/// The way to change a mask that unblocks nothing.
const BLOCK: c_int = 0;
const EINTR: c_int = 4;
const EAGAIN: c_int = 11;
const EINVAL: c_int = 22;

/// The first word of a `sigset_t`, which has all signals.
///
/// # Safety
/// `set` points to a `sigset_t`.
unsafe fn set_of(set: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { *(set as *const u64) }
}

/// Stores signals in a `sigset_t`.
///
/// # Safety
/// `set` points to a `sigset_t`.
unsafe fn put(set: usize, signals: u64) {
    const WORDS: usize = 16;
    for i in 0..WORDS {
        let word = if i == 0 { signals } else { 0 };
        // SAFETY: guaranteed by the caller.
        unsafe { (set as *mut u64).add(i).write_volatile(word) };
    }
}

/// Makes a call that changes what the thread blocks. If it may unblock signals, it has two events: from
/// the first one on the thread may receive signals instead of another one, and before the second one the
/// handlers of pending signals run.
///
/// # Safety
/// As for the call.
unsafe fn changing(how: c_int, new: usize, pc: usize, call: impl FnOnce() -> c_int) -> c_int {
    let unblocks = new != 0 && how != BLOCK;
    let Some(slot) = thread::recorded().filter(|_| unblocks) else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        let root = gate::root(slot);
        note_handled(slot, None, pc);
        let handled = (*thread::own(root)).handled;
        let result = call();
        let ran = (*thread::own(root)).handled != handled;
        let error = real::errno() as c_int;
        note_handled(slot, ran.then_some((*root).head.thread), pc);
        *real::__errno_location() = error;
        result
    }
}

/// Changes what the program blocks. Returns an error number.
///
/// # Safety
/// As for `pthread_sigmask`, in a controlled run; the slot is the current thread's.
unsafe fn change(slot: *mut ThreadSlot, how: c_int, new: usize, old: usize, pc: usize) -> c_int {
    const UNBLOCK: c_int = 1;
    const SET: c_int = 2;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let before = (*thread::own(slot)).mask;
        if new != 0 {
            let given = set_of(new);
            let mask = match how {
                BLOCK => before | given,
                UNBLOCK => before & !given,
                SET => given,
                _ => return EINVAL,
            };
            gate::set_mask(slot, mask, pc);
        }
        if old != 0 {
            put(old, before);
        }
        0
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn pthread_sigmask(
    how: c_int,
    new: usize,
    old: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        changing(how, new, pc, || match controlled() {
            Some(slot) => change(slot, how, new, old, pc),
            None => real::pthread_sigmask()(how, new, old),
        })
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigprocmask(how: c_int, new: usize, old: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        changing(how, new, pc, || match controlled() {
            Some(slot) => fail(change(slot, how, new, old, pc)),
            None => real::sigprocmask()(how, new, old),
        })
    }
}

/// The result of a function that stores its error in `errno`.
fn fail(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    // SAFETY: the address is always valid on a thread of libc.
    unsafe { *real::__errno_location() = error };
    -1
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigpending(set: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let result = real::sigpending()(set);
        if let Some(slot) = controlled() {
            put(set, set_of(set) & (*thread::own(slot)).mask);
        }
        result
    }
}

/// Waits until a handler has run, with other signals blocked if `mask` is given.
///
/// # Safety
/// `mask` is 0 or points to a `sigset_t`; `real` makes the call.
unsafe fn await_handler(mask: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(slot) = thread::recorded() else { return real() };
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let root = gate::root(slot);
        let handled = (*thread::own(root)).handled;
        event::put(slot, Kind::Sleep, pc, 0, &[]);
        let result = if control::is_on() {
            gate::wait_for_handler(slot, (mask != 0).then(|| set_of(mask)), pc);
            fail(EINTR)
        } else {
            real()
        };
        let ran = (*thread::own(root)).handled != handled;
        let error = real::errno() as c_int;
        note_handled(slot, ran.then_some((*root).head.thread), pc);
        *real::__errno_location() = error;
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigsuspend(mask: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { await_handler(mask, pc, || real::sigsuspend()(mask)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn pause(pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { await_handler(0, pc, || real::pause()()) }
}

/// Waits for one of several signals, and records where it came from. Returns the signal; 0 if the
/// time has passed, a negative number if a handler interrupted the wait.
///
/// # Safety
/// `set` points to a `sigset_t` and `info` to a `siginfo_t`; the slot is the current thread's.
unsafe fn receiving(
    slot: *mut ThreadSlot,
    (set, info): (usize, usize),
    (pc, deadline): (usize, u64),
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        channel::before(slot, Kind::Receive, pc, 0);
        let signal = if control::is_on() {
            gate::wait_for(slot, set_of(set), info, (pc, deadline))
        } else {
            real()
        };
        if signal > 0 {
            let thread = (*gate::root(slot)).head.thread;
            let (channel, how) = source(signal, info, thread);
            event::note(slot, Kind::Receive, pc, channel as usize, &[1, how]);
        } else {
            event::note(slot, Kind::NotReady, pc, EINTR as usize, &[]);
        }
        signal
    }
}

/// `siginfo_t`.
type Info = [u64; 16];

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigwait(set: usize, out: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded() else { return real::sigwait()(set, out) };
        let mut info: Info = [0; 16];
        let at = &raw mut info as usize;
        loop {
            let real = || real::sigwaitinfo()(set, at);
            let signal = receiving(slot, (set, at), (pc, NEVER), real);
            if signal > 0 {
                *(out as *mut c_int) = signal;
                return 0;
            }
        }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigwaitinfo(set: usize, info: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { sigtimedwait(set, info, 0, pc) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigtimedwait(set: usize, info: usize, time: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded() else { return real::sigtimedwait()(set, info, time) };
        let mut own: Info = [0; 16];
        let at = if info == 0 { &raw mut own as usize } else { info };
        let now = if control::is_on() { control::time::now() } else { sys::now(sys::MONOTONIC) };
        let deadline = if time == 0 { NEVER } else { now.saturating_add(length(time)) };
        let real = || real::sigtimedwait()(set, at, time);
        match receiving(slot, (set, at), (pc, deadline), real) {
            signal if signal > 0 => signal,
            _ if !control::is_on() => -1,
            0 => fail(EAGAIN),
            _ => fail(EINTR),
        }
    }
}

interpose! {
    pthread_sigmask(3) => pthread_sigmask;
    sigprocmask(3) => sigprocmask;
    sigpending(1) => sigpending;
    sigsuspend(1) => sigsuspend;
    pause(0) => pause;
    sigwait(2) => sigwait;
    sigwaitinfo(2) => sigwaitinfo;
    sigtimedwait(3) => sigtimedwait;
}
