//! Random delays, which vary the order of threads at nearly native speed, as in the paper: a thread
//! sleeps for a random time before some accesses to shared variables and after some operations that
//! synchronize threads.
//!
//! The choices of a thread follow from the seed of the run and the number of the thread. The operating
//! system's scheduler is not controlled, so the same seed need not give the same run.

use core::sync::atomic::Ordering::Relaxed;

use norn_abi::arena::ThreadSlot;
use norn_sched::{STEP, mix};
use norn_window::Counter;

use super::shadow;
use crate::{control, sys, thread::own};

/// All delays of a run together are not longer than this many nanoseconds, about.
const BUDGET: u64 = 2_000_000_000;

/// Sleeps, with a certain probability.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and patterns are collected.
#[inline(always)]
pub unsafe fn maybe(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let every = shadow().shared.counter(Counter::DelayEvery).load(Relaxed);
        if every != 0 && !control::was_on() {
            draw(slot, every);
        }
    }
}

/// # Safety
/// As for [`maybe`].
#[inline(never)]
unsafe fn draw(slot: *mut ThreadSlot, every: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let shared = &shadow().shared;
        let own = own(slot);
        if (*own).delays == 0 {
            let seed = shared.counter(Counter::DelaySeed).load(Relaxed);
            (*own).delays = mix(seed ^ u64::from((*slot).head.thread).wrapping_mul(STEP)) | 1;
        }
        (*own).delays = (*own).delays.wrapping_add(STEP);
        let random = mix((*own).delays);
        if !random.is_multiple_of(every) || shared.counter(Counter::Delays).load(Relaxed) > BUDGET {
            return;
        }
        let longest = shared.counter(Counter::DelayLimit).load(Relaxed).max(1);
        let length = ((random >> 32) * longest) >> 32;
        shared.counter(Counter::Delays).fetch_add(length, Relaxed);
        sys::nap(length);
    }
}
