//! When an input that is fed back comes: not before it came in the run that it was kept in, as far
//! as that can be.

use norn_abi::arena::ThreadSlot;

use super::{NEVER, block_outside, is_on, task, test_cancel, time, turn};
use crate::arena;

/// Events of all threads so far, for who has the turn.
pub fn steps() -> u64 {
    turn::steps()
}

/// Whether the inputs are those of this process. A debugger may start it again and again.
pub fn is_due() -> bool {
    super::is_due() || arena::plan().linger != 0
}

/// The entry of the thread among the schedule's names.
pub unsafe fn entry(slot: *mut ThreadSlot) -> u32 {
    // SAFETY: the slot is the current thread's.
    unsafe { task::of(slot).entry }
}

/// It is at least so late.
pub fn time_is(clock: u64) {
    time::reach(clock);
}

/// Waits until there were as many events as when the input once came. If the schedule wants it
/// earlier, it comes earlier, but not before the world was `told` what may be its cause, unless
/// nobody is left who could tell.
pub unsafe fn arrive(slot: *mut ThreadSlot, pc: usize, steps: u64, told: impl Fn() -> bool) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        while is_on() && (turn::steps() < steps || !told()) {
            let seen = turn::steps();
            block_outside(slot, pc, NEVER);
            test_cancel(slot);
            if turn::steps() == seen && (told() || is_alone(slot)) {
                break;
            }
        }
    }
}

/// Whether no other thread can go on.
unsafe fn is_alone(slot: *mut ThreadSlot) -> bool {
    // SAFETY: under the lock; the slot is the current thread's.
    turn::locked(|| unsafe {
        let own = task::number(task::of(slot));
        !task::all().iter().any(|it| (it.is_ready() || it.away) && task::number(it) != own)
    })
}
