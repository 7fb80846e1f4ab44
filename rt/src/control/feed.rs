//! When a replayed input arrives: as far as possible not earlier than in the run in which it was
//! recorded.

use norn_abi::arena::ThreadSlot;
use norn_sched::NEVER;

use super::{block_outside, is_on, seat::task_of, shared::lock, test_cancel, time, world::Process};
use crate::arena;

/// Number of events of all threads so far. Called by the thread that has the turn.
pub fn steps() -> u64 {
    lock().steps(&Process)
}

/// Whether the recorded inputs are those of this process. A debugger may start the program
/// repeatedly.
pub fn is_due() -> bool {
    super::is_due() || arena::plan().linger != 0
}

/// The index of the thread among the schedule's names.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn entry(slot: *mut ThreadSlot) -> u32 {
    // SAFETY: guaranteed by the caller.
    let task = unsafe { task_of(slot) };
    task.map_or(u32::MAX, |it| lock().entry(it))
}

/// Advances the virtual clock to at least `clock`.
pub fn time_is(clock: u64) {
    time::reach(clock);
}

/// Waits until as many events have happened as when the input arrived in the recorded run. If the
/// schedule needs it earlier, it arrives earlier, but not before the program `has_sent` what may
/// have caused it, unless no thread is left that could send that.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn arrive(slot: *mut ThreadSlot, pc: usize, count: u64, has_sent: impl Fn() -> bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        while is_on() && (steps() < count || !has_sent()) {
            let seen = steps();
            block_outside(slot, pc, NEVER);
            test_cancel(slot);
            if steps() == seen && (has_sent() || is_alone(slot)) {
                break;
            }
        }
    }
}

/// Whether no other thread can run.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn is_alone(slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller.
    let task = unsafe { task_of(slot) };
    task.is_none_or(|it| !lock().has_active_others(it))
}
