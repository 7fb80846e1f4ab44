//! What ends a thread's wait besides what it waits for: a cancellation, a signal.

use norn_abi::arena::ThreadSlot;
use norn_sched::Interruption;

use super::{is_on, seat::task_of, shared::lock, turn, wake::wake_free, was_on};
use crate::real;

/// A thread is to be cancelled: if it waits where it can be, it wakes.
pub fn cancel(number: u32) {
    if was_on() {
        let mut scheduler = lock();
        scheduler.cancel(number);
        wake_free(&mut scheduler);
    }
}

/// Whether a signal handler has run since the thread last waited, and what that means for it.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn take_interrupted(slot: *mut ThreadSlot) -> Interruption {
    // SAFETY: as the caller says.
    let task = unsafe { task_of(slot) };
    task.map_or(Interruption::No, |it| lock().take_interruption(it))
}

/// Whether a thread has asked for this one's end since it last looked.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn take_cancelled(slot: *mut ThreadSlot) -> bool {
    // SAFETY: as the caller says.
    let task = unsafe { task_of(slot) };
    task.is_some_and(|it| lock().take_cancelled(it))
}

/// Acts upon a cancellation, if there is one. Does not return then.
///
/// # Safety
/// The slot is the current thread's and no stand, and it may be cancelled here.
pub unsafe fn test_cancel(slot: *mut ThreadSlot) {
    // SAFETY: as the caller says.
    unsafe {
        if take_cancelled(slot) {
            real::pthread_testcancel();
        }
    }
}

/// A signal handler begins on this thread: it needs the turn, whatever the thread waits for.
/// Returns whether the thread ran without the turn.
///
/// # Safety
/// The slot is the one that the handler interrupts, of the current thread and no stand.
pub unsafe fn handler_begins(slot: *mut ThreadSlot) -> bool {
    // SAFETY: as the caller says.
    let Some(task) = (unsafe { task_of(slot) }).filter(|_| is_on()) else { return false };
    let mut scheduler = lock();
    let away = scheduler.handler_begins(task);
    let has_turn = scheduler.holder() == Some(task);
    drop(scheduler);
    if !has_turn {
        // SAFETY: as the caller says.
        unsafe { turn::come_back(slot) };
    }
    away
}

/// It is over: the thread waits again, or is again where it was.
///
/// # Safety
/// As for [`handler_begins`], which returned `away`.
pub unsafe fn handler_ends(slot: *mut ThreadSlot, away: bool, restarts: bool) {
    // SAFETY: as the caller says.
    unsafe {
        let Some(task) = task_of(slot).filter(|_| is_on()) else { return };
        let gives_back = lock().handler_ends(task, away, restarts);
        if gives_back {
            turn::leave(slot, |_, _| {});
        }
    }
}
