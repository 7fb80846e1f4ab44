//! Where signals can come from. Any process may send any signal at any time, so that a wait for signals
//! usually counts as one for the outside. But if the program itself has sent every signal that can end the
//! wait, by `kill` and the like or by a timer, then its threads wake each other by them: the wait is internal, like
//! that for a lock, and may be part of a deadlock.
//!
//! This is a guess, so it is a careful one. The wait is one for the outside if a signal that the program
//! never sent, such as the SIGTERM of a daemon, could end it or run a handler, and if another process of the
//! program could send a signal: a child, or the parent of a child.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{GATE, bit, wait};
use crate::{arena, channel::internal};

/// The signals that this process has sent to itself, or has set a timer for.
static SENT: AtomicU64 = AtomicU64::new(0);

/// Notes that the program sends a signal to itself, or sets a timer that will.
pub fn note_sent(signal: c_int) {
    SENT.fetch_or(bit(signal), Ordering::Relaxed);
}

/// Whether only the program itself sends these signals, so that a wait for them is one for its threads.
/// The answer may change while a thread waits, so that it asks again whenever it is woken.
pub fn is_internal(signals: u64) -> bool {
    let possible = signals | GATE.load(Ordering::Relaxed);
    signals != 0
        && possible & !SENT.load(Ordering::Relaxed) == 0
        && arena::process_number() == 0
        && !internal::has_children()
}

/// Whether a signal from outside could save a program that is stuck: by a handler, or because a thread
/// waits for it.
pub fn is_help_possible() -> bool {
    let handled = GATE.load(Ordering::Relaxed);
    wait::is_outside_awaited() || handled != 0 && !is_internal(handled)
}
