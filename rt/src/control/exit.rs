//! Threads that are ending. What a thread does in libc after its last event is not controlled: it
//! frees memory and returns its stack. So the next thread waits until the ending thread is gone,
//! however long that takes: the addresses that other threads get must not depend on which of them
//! was faster.

use core::sync::atomic::{AtomicU32, Ordering};

use norn_sched::Sleep;

use super::verdict;
use crate::{sys, task_state};

/// The kernel's id of the thread that has just ended; 0 for none.
static LEAVES: AtomicU32 = AtomicU32::new(0);

/// Number of checks without a pause.
const HASTY: u32 = 2000;
/// Pause between checks after that, in nanoseconds.
const NAP: u64 = 200_000;
/// Maximum time that an ending thread may wait for other threads, in nanoseconds. A destructor that
/// runs after the runtime's may do that, and waiting for it any longer could deadlock the run.
const ASLEEP: u64 = 2_000_000_000;

/// Notes that a thread ends. The caller holds the scheduler's lock.
pub fn begin(tid: u32) {
    LEAVES.store(tid, Ordering::Relaxed);
}

/// Number of threads that have ended and may still exist.
pub fn count() -> usize {
    usize::from(LEAVES.load(Ordering::Relaxed) != 0)
}

/// In a forked child: no other thread exists.
pub fn forget() {
    LEAVES.store(0, Ordering::Relaxed);
}

/// Waits until the thread that has ended is gone. Called by the thread that has the turn.
pub fn wait() {
    let tid = LEAVES.load(Ordering::Relaxed);
    if tid == 0 {
        return;
    }
    let mut tries = 0;
    let mut doze = Doze { spent: None, since: 0 };
    while sys::is_thread(tid) && !task_state::is_dead(tid) {
        tries += 1;
        if tries < HASTY {
            sys::yield_now();
        } else if doze.look(tid) > ASLEEP {
            verdict::away();
            break;
        } else {
            sys::nap(NAP);
        }
    }
    LEAVES.store(0, Ordering::Relaxed);
}

/// Measures for how long a thread has been waiting for others without using any processor time.
struct Doze {
    /// Processor time of the thread when it was first seen asleep, in nanoseconds.
    spent: Option<u64>,
    /// The time at which it was first seen asleep.
    since: u64,
}

impl Doze {
    /// The time that the thread has been asleep, in nanoseconds.
    fn look(&mut self, tid: u32) -> u64 {
        let (now, spent) = (sys::now(sys::MONOTONIC), sys::spent(tid));
        let sleeps = task_state::sleep(tid) == Sleep::ForOthers;
        if !sleeps || self.spent != spent || spent.is_none() {
            (self.spent, self.since) = (spent, now);
        }
        now - self.since
    }
}
