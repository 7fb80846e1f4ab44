//! What gets a waiting thread out of its wait besides what it waits for: a cancellation, a signal.

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    is_on,
    task::{self, Interrupted},
    turn,
    wake::set_off,
    was_on,
};
use crate::real;

/// A thread is to be cancelled: if it waits where it can be, it wakes.
pub fn cancel(number: u32) {
    if !was_on() {
        return;
    }
    // SAFETY: under the lock.
    turn::locked(|| unsafe {
        for task in task::all().iter_mut().filter(|it| it.alive && it.number() == number) {
            task.cancelled = true;
            if task.waiting && is_cancellable(task.kind) {
                set_off(task);
            }
        }
    });
}

fn is_cancellable(kind: Kind) -> bool {
    matches!(kind, Kind::Wait | Kind::Sleep | Kind::Join | Kind::SemWait)
}

fn is_interruptible(kind: Kind) -> bool {
    matches!(kind, Kind::SemWait | Kind::Sleep)
}

/// Whether a signal handler has run since the thread last waited, and what that means for it.
pub unsafe fn take_interrupted(slot: *mut ThreadSlot) -> Interrupted {
    // SAFETY: the slot is the current thread's.
    unsafe { core::mem::replace(&mut task::of(slot).interrupted, Interrupted::No) }
}

/// Whether somebody has asked for this thread's end since it last looked.
pub unsafe fn take_cancelled(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe { core::mem::take(&mut task::of(slot).cancelled) }
}

/// Acts upon a cancellation, if there is one.
pub unsafe fn test_cancel(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's; does not return if it is cancelled.
    unsafe {
        if take_cancelled(slot) {
            real::pthread_testcancel();
        }
    }
}

/// A signal handler begins on this thread: it needs the turn, whatever the thread waits for.
/// Returns whether the thread ran without the turn.
pub unsafe fn handler_begins(slot: *mut ThreadSlot) -> bool {
    if !is_on() {
        return false;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let task = task::of(slot);
        let away = turn::locked(|| {
            task.handlers += 1;
            task.away
        });
        if !turn::has(task) {
            turn::come_back(slot);
        }
        away
    }
}

/// It is over: the thread waits again, or is again where it was.
pub unsafe fn handler_ends(slot: *mut ThreadSlot, away: bool, restarts: bool) {
    if !is_on() {
        return;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let task = task::of(slot);
        let waits = turn::locked(|| {
            task.handlers = task.handlers.saturating_sub(1);
            task.away = away;
            if task.waiting && (task.outside || is_interruptible(task.kind)) {
                task.release();
                task.interrupted =
                    if restarts { Interrupted::Restarts } else { Interrupted::Fails };
            }
            task.handlers == 0 && task.waiting
        });
        if waits || away {
            turn::leave(slot, |_| {});
        }
    }
}
