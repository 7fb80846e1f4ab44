//! When an input that is fed back comes: not before it came in the run that it was kept in, as far
//! as that can be.

use norn_abi::arena::ThreadSlot;
use norn_sched::NEVER;

use super::{block_outside, is_on, seat::task_of, shared::lock, test_cancel, time, world::Process};
use crate::arena;

/// Events of all threads so far, for the thread that has the turn.
pub fn steps() -> u64 {
    lock().steps(&Process)
}

/// Whether the inputs are those of this process. A debugger may start it again and again.
pub fn is_due() -> bool {
    super::is_due() || arena::plan().linger != 0
}

/// The entry of the thread among the schedule's names.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn entry(slot: *mut ThreadSlot) -> u32 {
    // SAFETY: as the caller says.
    let task = unsafe { task_of(slot) };
    task.map_or(u32::MAX, |it| lock().entry(it))
}

/// It is at least so late.
pub fn time_is(clock: u64) {
    time::reach(clock);
}

/// Waits until there were as many events as when the input once came. If the schedule wants it
/// earlier, it comes earlier, but not before the program `has_sent` what may be its cause, unless
/// no thread is left that could send it.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn arrive(slot: *mut ThreadSlot, pc: usize, count: u64, has_sent: impl Fn() -> bool) {
    // SAFETY: as the caller says.
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

/// Whether no other thread can go on.
///
/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn is_alone(slot: *mut ThreadSlot) -> bool {
    // SAFETY: as the caller says.
    let task = unsafe { task_of(slot) };
    task.is_none_or(|it| !lock().has_active_others(it))
}
