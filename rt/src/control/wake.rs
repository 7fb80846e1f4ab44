//! Wakes threads whose wait is over.

use norn_abi::Kind;
use norn_sched::{Scheduler, TaskId};

use super::{is_free, is_on, seat, shared::lock, was_on, world::Process};

/// Lets all threads that wait to do `kind` on `object` try again.
#[inline(always)]
pub fn release(kind: Kind, object: usize) {
    if was_on() {
        release_locked(kind, object);
    }
}

#[cold]
fn release_locked(kind: Kind, object: usize) {
    let mut scheduler = lock();
    scheduler.release_all(kind, object);
    wake_free(&mut scheduler);
}

/// If no thread waits for a turn any more, resumes threads whose wait is over at once.
pub fn wake_free(scheduler: &mut Scheduler) {
    if is_free() {
        while let Some(task) = scheduler.next_woken() {
            seat::of(task).wake();
        }
    }
}

/// Makes threads that wait for something outside check again: it may have come from this process.
pub fn look_again() {
    if is_on() {
        lock().look_again();
    }
}

/// Wakes one of the threads that wait to do `kind` on `object`; the strategy chooses it. Returns
/// whether there was any.
pub fn release_one(kind: Kind, object: usize) -> bool {
    if !was_on() {
        return false;
    }
    let mut scheduler = lock();
    let released = scheduler.release_one(kind, object, &Process);
    wake_free(&mut scheduler);
    released
}

/// Ends the wait of a task, which then checks whether what it waits for has happened.
pub fn end_wait(task: TaskId) {
    lock().end_wait(task);
}

/// Runs `f` with the scheduler's lock held.
pub fn with_scheduler<T>(f: impl FnOnce(&mut Scheduler) -> T) -> T {
    f(&mut lock())
}
