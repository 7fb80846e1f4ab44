//! The channels of signals: what is pending for a thread or for the process is sent by `kill` and the
//! like, and received by a handler, `sigwait` or a `signalfd`.

use core::ffi::c_int;

use norn_abi::{arena::ThreadSlot, receipt};

use super::identity::{Tag, key};
use crate::signal::root;

/// The first signal that is queued as often as it is sent. Of the others, at most one is pending.
const FIRST_QUEUED: c_int = 32;

/// The channel of a signal that is sent to a thread, or to the process.
pub fn of_signal(signal: c_int, thread: Option<u32>) -> u64 {
    norn_abi::signal::channel(signal as u8, thread)
}

/// The channel of the ends of the signal handlers on a thread.
pub fn of_handled(thread: u32) -> u64 {
    key(Tag::Handled, u64::from(thread), 0)
}

/// The channel of the cancellation of a thread.
pub fn of_cancel(thread: u32) -> u64 {
    key(Tag::Cancel, u64::from(thread), 0)
}

/// The channel from the setting of a timer to the calls of its function.
pub fn of_timer(number: usize) -> u64 {
    key(Tag::Timer, number as u64, 1)
}

/// The channel from which a thread has received a signal, by the kernel's information, and what it
/// depends on.
///
/// # Safety
/// `info` points to a `siginfo_t`.
pub unsafe fn source(signal: c_int, info: usize, thread: u32) -> (u64, u64) {
    const BY_THREAD: c_int = -6;
    const BY_TIMER: c_int = -2;
    // SAFETY: guaranteed by the caller; the third word says how the signal was sent.
    let code = unsafe { *(info as *const c_int).add(2) };
    let queued = signal >= FIRST_QUEUED && code != BY_TIMER;
    let how = if queued { receipt::NEXT } else { receipt::LATEST };
    (of_signal(signal, (code == BY_THREAD).then_some(thread)), how)
}

/// The channel of the signal that was read from a file.
///
/// # Safety
/// `buffer` is null or begins with a `signalfd_siginfo`; the slot is the current thread's.
pub unsafe fn read(slot: *mut ThreadSlot, buffer: usize) -> Option<u64> {
    if buffer == 0 {
        return None;
    }
    // SAFETY: guaranteed by the caller; both structures begin with the signal, an error, and how the
    // signal was sent.
    unsafe {
        let words = buffer as *const c_int;
        Some(source(*words, buffer, (*root(slot)).head.thread).0)
    }
}
