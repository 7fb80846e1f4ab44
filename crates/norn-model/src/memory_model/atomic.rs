//! What atomic operations and fences order: release sequences, and the fences around relaxed
//! operations.

use rustc_hash::FxHashMap;

use super::{Clock, Clocks};
use crate::{AtomicOp, Ordering};

/// The clocks that atomic operations pass on.
#[derive(Debug)]
pub struct AtomicClocks {
    /// By address, what a thread learns that reads the current value and acquires: the clocks of all
    /// heads of release sequences that the value belongs to.
    released: FxHashMap<u64, Clock>,
    threads: Vec<Fences>,
}

#[derive(Clone, Debug, Default)]
struct Fences {
    /// What the thread's relaxed reads would have learnt, for its next fence that acquires.
    read: Clock,
    /// What the thread's last fence that releases knew, for its later relaxed writes.
    released: Clock,
}

impl AtomicClocks {
    /// Before the first event of this many threads.
    pub fn new(threads: usize) -> Self {
        AtomicClocks { released: FxHashMap::default(), threads: vec![Fences::default(); threads] }
    }

    /// Performs an atomic operation of a thread.
    pub fn step(
        &mut self,
        clocks: &mut Clocks,
        (thread, index): (usize, u32),
        addr: u64,
        ordering: Ordering,
        op: AtomicOp,
    ) {
        let (reads, writes) = (op.reads(), op.writes());
        let fences = &mut self.threads[thread];
        let released = self.released.entry(addr).or_default();
        if reads && ordering.acquires() {
            clocks.learn(thread, index, released);
        } else if reads {
            fences.read.join(released);
        }
        if !writes {
            return;
        }
        // A read-modify-write continues the release sequences of the value that it read; any other
        // store ends them.
        if !reads {
            *released = Clock::default();
        }
        if ordering.releases() {
            released.join(&clocks.after(thread, index));
        } else {
            released.join(&fences.released);
        }
    }

    /// Performs a fence of a thread.
    pub fn fence(
        &mut self,
        clocks: &mut Clocks,
        (thread, index): (usize, u32),
        ordering: Ordering,
    ) {
        let fences = &mut self.threads[thread];
        if ordering.acquires() {
            clocks.learn(thread, index, &fences.read);
        }
        if ordering.releases() {
            fences.released = clocks.after(thread, index);
        }
    }
}

impl Ordering {
    /// Whether a read or a fence with this order acquires.
    pub fn acquires(self) -> bool {
        match self {
            Ordering::Acquire | Ordering::Consume | Ordering::AcqRel | Ordering::SeqCst => true,
            Ordering::Relaxed | Ordering::Release => false,
        }
    }

    /// Whether a write or a fence with this order releases.
    pub fn releases(self) -> bool {
        match self {
            Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => true,
            Ordering::Relaxed | Ordering::Consume | Ordering::Acquire => false,
        }
    }
}

impl AtomicOp {
    /// Whether it reads.
    pub fn reads(self) -> bool {
        !matches!(self, AtomicOp::Store(_))
    }

    /// Whether it writes. A compare-exchange that failed does not.
    pub fn writes(self) -> bool {
        match self {
            AtomicOp::Load(_) | AtomicOp::CasFailed { .. } => false,
            AtomicOp::Store(_) | AtomicOp::Rmw { .. } | AtomicOp::Cas { .. } => true,
        }
    }
}
