//! Gets those on who wait for something that has come.

use core::sync::atomic::Ordering;

use norn_abi::{Kind, control::strategy as name};

use super::{Task, follow, is_free, is_on, strategy, task, turn, was_on};
use crate::{arena, sys};

/// All who wait to do `kind` on `object` may try again.
#[inline(always)]
pub fn release(kind: Kind, object: usize) {
    if was_on() {
        release_locked(kind, object);
    }
}

#[cold]
fn release_locked(kind: Kind, object: usize) {
    // SAFETY: under the lock.
    turn::locked(|| unsafe { release_all(kind, object) });
}

pub unsafe fn release_all(kind: Kind, object: usize) {
    // SAFETY: under the lock.
    for task in unsafe { task::all() } {
        if task.alive && task.waiting && task.kind == kind && task.object == object {
            // SAFETY: under the lock.
            unsafe { set_off(task) };
        }
    }
}

/// The task need not wait any longer; where nobody waits for a turn, it goes on at once.
pub unsafe fn set_off(task: &mut Task) {
    task.release();
    if is_free() {
        task.turn.store(1, Ordering::SeqCst);
        sys::futex_wake(task.turn.as_ptr());
    }
}

/// Those who wait for something outside look again: it may have come from inside.
pub fn look_again() {
    if is_on() {
        // SAFETY: under the lock.
        turn::locked(|| unsafe {
            task::all().iter_mut().filter(|it| it.alive && it.outside).for_each(|it| it.release());
        });
    }
}

/// Wakes one who waits to do `kind` on `object`; the strategy says whom.
pub fn release_one(kind: Kind, object: usize) -> bool {
    if !was_on() {
        return false;
    }
    let waits = |it: &Task| it.alive && it.waiting && it.kind == kind && it.object == object;
    // SAFETY: under the lock.
    turn::locked(|| unsafe {
        let count = task::all().iter().filter(|it| waits(it)).count();
        if count == 0 {
            return false;
        }
        let nth = |number: usize| -> Option<&'static mut Task> {
            let mut floor = 0;
            let mut found = None;
            for _ in 0..=number {
                found = task::all()
                    .iter_mut()
                    .filter(|it| waits(it) && it.ticket > floor)
                    .min_by_key(|it| it.ticket);
                floor = found.as_ref()?.ticket;
            }
            found
        };
        let chosen = match arena::plan().strategy {
            name::FOLLOW => follow::pick_waiter(|number| nth(number).map(|it| it.entry)),
            _ => strategy::pick_waiter(count as u64) as usize,
        };
        if let Some(task) = nth(chosen) {
            set_off(task);
        }
        true
    })
}
