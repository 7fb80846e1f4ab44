//! The clock of a controlled run, for the functions that read it.

use norn_abi::{Kind, arena::ThreadSlot};

use super::{shared::lock, was_on, world::Process};
use crate::{arena, number};

/// Nanoseconds since the start.
pub fn now() -> u64 {
    lock().now(&Process)
}

/// What a clock shows when the program reads it.
pub fn read(clock: i32) -> u64 {
    lock().read_clock(clock, &Process)
}

/// Puts the clock forward to `then` nanoseconds since the start, if it is earlier.
pub fn reach(then: u64) {
    lock().reach_time(then, &Process);
}

/// The time since the start at which a clock shows `then`.
pub fn when(clock: i32, then: u64) -> u64 {
    norn_sched::since_start(clock, then, arena::plan())
}

/// Notes whose time has run out since a thread last had the turn: in the trace of the thread that
/// has it now, before whatever it does. Returns whether there was anything to note.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn note_expired(slot: *mut ThreadSlot) -> bool {
    let mut noted = false;
    while let Some(thread) = take_expired() {
        noted = true;
        // SAFETY: as the caller says.
        unsafe {
            if arena::make_room(slot) {
                let number = number::next(slot);
                (*slot).lane.sync(Kind::Expired, 0, thread as usize, number, &[]);
            }
        }
    }
    noted
}

/// The number of a thread whose time has run out, and no trace says so yet.
fn take_expired() -> Option<u32> {
    was_on().then(|| lock().take_expired()).flatten()
}
