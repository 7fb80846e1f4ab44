//! Cancellation and signals, which end a thread's wait before its condition is met.

use norn_abi::arena::ThreadSlot;
use norn_sched::Interruption;

use super::{is_on, seat::task_of, shared::lock, turn, wake::wake_free, was_on};
use crate::real;

/// Notes that a thread is to be cancelled: if it waits at a cancellation point, it wakes.
pub fn cancel(number: u32) {
    if was_on() {
        let mut scheduler = lock();
        scheduler.cancel(number);
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
        if take_cancelled(slot) {
            real::pthread_testcancel();
        }
    }
}

/// Called when a signal handler begins on this thread: the handler needs the turn, whatever the
/// thread waits for. Returns whether the thread ran without the turn.
///
/// # Safety
/// The slot is the one that the handler interrupts, of the current thread and not a placeholder.
pub unsafe fn handler_begins(slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller.
    let Some(task) = (unsafe { task_of(slot) }).filter(|_| is_on()) else { return false };
    let mut scheduler = lock();
    let away = scheduler.handler_begins(task);
    let has_turn = scheduler.holder() == Some(task);
    drop(scheduler);
    if !has_turn {
        // SAFETY: guaranteed by the caller.
        unsafe { turn::come_back(slot) };
    }
    away
}

/// Called when the handler ends: the thread waits again, or runs again without the turn.
///
/// # Safety
/// As for [`handler_begins`], which returned `away`.
pub unsafe fn handler_ends(slot: *mut ThreadSlot, away: bool, restarts: bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(task) = task_of(slot).filter(|_| is_on()) else { return };
        let gives_back = lock().handler_ends(task, away, restarts);
        if gives_back {
            turn::leave(slot, |_, _| {});
        }
    }
}
