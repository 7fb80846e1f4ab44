//! The virtual clock of a controlled run, for the functions that read it.

use norn_abi::{Kind, arena::ThreadSlot};
use norn_sched::TimerSetting;

use super::{shared::lock, was_on, world::Process};
use crate::{arena, number};

/// Nanoseconds of virtual time since the start.
pub fn now() -> u64 {
    lock().now(&Process)
}

/// The value of a clock when the program reads it.
pub fn read(clock: i32) -> u64 {
    lock().read_clock(clock, &Process)
}

/// Advances the clock to `then` nanoseconds since the start, unless it is already later.
pub fn reach(then: u64) {
    lock().reach_time(then, &Process);
}

/// The virtual time since the start at which a clock shows `then`.
pub fn when(clock: i32, then: u64) -> u64 {
    norn_sched::since_start(clock, then, arena::plan())
}

/// Sets a timer, and returns its earlier setting.
pub fn set_timer(timer: usize, setting: TimerSetting) -> TimerSetting {
    lock().set_timer(timer, setting)
}

/// The setting of a timer.
pub fn timer(timer: usize) -> TimerSetting {
    lock().timer(timer)
}

/// Records which waits have timed out since a thread last had the turn. The records are in the
/// trace of the thread that has the turn now, before its next event. Returns whether there were
/// any.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn note_expired(slot: *mut ThreadSlot) -> bool {
    let mut noted = false;
    while let Some(thread) = take_expired() {
        noted = true;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if arena::make_room(slot) {
                let number = number::next(slot);
                (*slot).lane.sync(Kind::Expired, 0, thread as usize, number, &[]);
            }
        }
    }
    noted
}

/// The number of a thread whose wait has timed out, if no trace records that yet.
fn take_expired() -> Option<u32> {
    was_on().then(|| lock().take_expired()).flatten()
}
