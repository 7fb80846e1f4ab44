//! Threads on their way out. What a thread does in libc after its last event is not controlled: it
//! frees memory and gives its stack back. So the next thread waits until it is gone, however long
//! that takes: the addresses that other threads get must not depend on which was faster.

use core::sync::atomic::{AtomicU32, Ordering};

use super::verdict;
use crate::sys;

/// The thread that has just ended; 0 for none.
static LEAVES: AtomicU32 = AtomicU32::new(0);

/// How many times the next thread looks without a pause.
const HASTY: u32 = 2000;
/// How long it sleeps between looks after that, in nanoseconds.
const NAP: u64 = 200_000;
/// How long a thread may sleep on its way out, in nanoseconds: a destructor that comes after ours may
/// wait for other threads.
const ASLEEP: u64 = 2_000_000_000;

/// A thread ends. Under the lock.
pub fn begin(tid: u32) {
    LEAVES.store(tid, Ordering::Relaxed);
}

/// How many threads have ended and may still be there.
pub fn count() -> usize {
    usize::from(LEAVES.load(Ordering::Relaxed) != 0)
}

/// In a forked child: no other thread is here.
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
    while sys::is_thread(tid) && !sys::is_dead(tid) {
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

/// A thread that sleeps, and nothing else.
struct Doze {
    /// What it had done when it was first seen asleep, in nanoseconds of a processor.
    spent: Option<u64>,
    /// When that was.
    since: u64,
}

impl Doze {
    /// For how long it has slept.
    fn look(&mut self, tid: u32) -> u64 {
        let (now, spent) = (sys::now(sys::MONOTONIC), sys::spent(tid));
        if !sys::is_asleep(tid) || self.spent != spent || spent.is_none() {
            (self.spent, self.since) = (spent, now);
        }
        now - self.since
    }
}
