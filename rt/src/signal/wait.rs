//! Waiting for signals, with and without handlers.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::arena::ThreadSlot;

use super::{GATE, apply, is_internal, notice};
use crate::{
    control::{self, NEVER, SignalWait},
    sys, thread,
};

/// Number of threads that wait for signals from outside without handlers.
static AWAITING: AtomicU32 = AtomicU32::new(0);
/// The object that such threads wait for in the scheduler.
pub(super) const AWAITED: usize = 1;

/// Whether any thread waits for signals from outside without a handler.
pub(super) fn is_outside_awaited() -> bool {
    AWAITING.load(Ordering::Relaxed) != 0
}

/// Waits until one of the signals of a set is pending, and receives it. Returns it; 0 if the time has
/// passed; a negative number if a handler of another signal has run.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `info` is null or points to a
/// `siginfo_t`.
pub unsafe fn wait_for(
    slot: *mut ThreadSlot,
    set: u64,
    info: usize,
    (pc, deadline): (usize, u64),
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        loop {
            let signal = sys::take_signal(set, info) as c_int;
            if signal > 0 {
                return signal;
            }
            if !control::is_on() {
                return -1;
            }
            let outside = !is_internal(set);
            AWAITING.fetch_add(u32::from(outside), Ordering::Relaxed);
            (*thread::own(slot)).awaited = set;
            let wait = SignalWait { signals: set, object: AWAITED, pc, deadline, outside };
            let late = control::block_for_signal(slot, wait);
            (*thread::own(slot)).awaited = 0;
            AWAITING.fetch_sub(u32::from(outside), Ordering::Relaxed);
            control::test_cancel(slot);
            if late {
                return 0;
            }
            if control::take_interrupted(slot) != control::Interruption::No {
                return -1;
            }
        }
    }
}

/// Waits until a handler has run, while the program blocks `mask` instead of what it usually blocks.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the run is controlled.
pub unsafe fn wait_for_handler(slot: *mut ThreadSlot, mask: Option<u64>, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let usual = (*thread::own(slot)).mask;
        let mask = mask.unwrap_or(usual);
        (*thread::own(slot)).mask = mask;
        apply(slot);
        notice(slot);
        while control::is_on() {
            let signals = GATE.load(Ordering::Relaxed) & !mask;
            let outside = !is_internal(signals);
            let wait = SignalWait { signals, object: 0, pc, deadline: NEVER, outside };
            control::block_for_signal(slot, wait);
            control::test_cancel(slot);
            if control::take_interrupted(slot) != control::Interruption::No {
                break;
            }
        }
        (*thread::own(slot)).mask = usual;
        apply(slot);
    }
}
