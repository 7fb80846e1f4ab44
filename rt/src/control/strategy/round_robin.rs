//! In turn: each thread for the same number of events.

use super::{State, Task, after, is_candidate};

pub unsafe fn choose(state: &State, quantum: u64) -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    unsafe { after(state.last, is_candidate) }.map(|it| (it, quantum))
}
