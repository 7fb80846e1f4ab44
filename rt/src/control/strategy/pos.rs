//! Partial order sampling (Yuan, Yang, Gu, CAV 2018): the next event of each thread has a random
//! priority, the highest is done; then all events that race with it get new ones. So orders of
//! racing events are sampled, and not orders of events that do not matter.

use norn_abi::control::class;

use super::{State, Task, highest};
use crate::control::task;

/// A thread comes to its next event: with a priority of its own; and what raced with its last
/// event has another one.
pub fn comes_to_event(state: &mut State, task: &mut Task) {
    task.priority = state.random();
}

/// Gives new priorities to the events that race with the one that is done now.
pub unsafe fn choose() -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    unsafe {
        let chosen = highest()?;
        let (object, changes) = (chosen.object, changes(chosen));
        let own: *const Task = chosen;
        for other in task::all() {
            let races = other.object == object && (changes || self::changes(other));
            if races && !core::ptr::eq(other, own) {
                other.priority = super::state().random();
            }
        }
        Some((chosen, 1))
    }
}

/// Whether a task's next event changes something.
fn changes(task: &Task) -> bool {
    task.kind.class() != class::READ
}
