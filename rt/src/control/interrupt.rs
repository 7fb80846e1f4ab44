//! Cancellation and signals, which end a thread's wait before its condition is met.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, receipt};
use norn_sched::Interruption;

use super::{handler::slot_of, seat::task_of, shared::lock, wake::wake_free, was_on};
use crate::{channel::signal::of_cancel, event, real, signal::root, thread};

/// Notes that a thread is to be cancelled: if it waits at a cancellation point, or is cancelled
/// asynchronously, it wakes.
pub fn cancel(number: u32) {
    if was_on() {
        let slot = slot_of(number);
        // SAFETY: the slot is that of a living thread.
        let anywhere = slot.is_some_and(|it| unsafe { (*thread::own(it)).asynchronous });
        let mut scheduler = lock();
        scheduler.cancel(number, anywhere);
        wake_free(&mut scheduler);
    }
}

/// Whether a signal handler has run since the thread last waited, and whether the wait is
/// restarted.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn take_interrupted(slot: *mut ThreadSlot) -> Interruption {
    // SAFETY: guaranteed by the caller.
    let task = unsafe { task_of(slot) };
    task.map_or(Interruption::No, |it| lock().take_interruption(it))
}

/// Whether a thread has requested the cancellation of this one since the last call.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn take_cancelled(slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller.
    let task = unsafe { task_of(slot) };
    task.is_some_and(|it| lock().take_cancelled(it))
}

/// Acts upon a pending cancellation. Does not return if there is one.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and it may be cancelled here.
pub unsafe fn test_cancel(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if is_enabled() && take_cancelled(slot) {
            note_cancelled(slot);
            real::pthread_testcancel();
        }
    }
}

/// Acts upon a pending cancellation if the thread may be cancelled anywhere.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn test_asynchronous(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (*thread::own(slot)).asynchronous {
            test_cancel(slot);
        }
    }
}

/// Whether the program lets the current thread be cancelled.
fn is_enabled() -> bool {
    const DISABLED: c_int = 1;
    let mut state = 0;
    // SAFETY: the state is restored.
    unsafe {
        real::pthread_setcancelstate(DISABLED, &raw mut state);
        real::pthread_setcancelstate(state, core::ptr::null_mut());
    }
    state != DISABLED
}

/// Records that the current thread is cancelled: what it does from here comes after the request.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn note_cancelled(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let channel = of_cancel((*root(slot)).head.thread) as usize;
        event::note(slot, Kind::Receive, 0, channel, &[1, receipt::LATEST]);
    }
}
