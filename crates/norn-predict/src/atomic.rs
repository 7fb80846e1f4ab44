//! The ordering by atomic operations: an acquire is ordered after the release whose value it reads.
//! Fences affect relaxed operations as in C11.

use norn_model::{AtomicOp, Ordering};
use rustc_hash::FxHashMap;

use crate::clock::{Clock, Clocks};

/// The clocks that atomic operations transfer.
#[derive(Debug)]
pub(crate) struct Atomics {
    /// By address: the clock of its value.
    memory: FxHashMap<u64, Clock>,
    threads: Vec<Fences>,
}

#[derive(Clone, Debug, Default)]
struct Fences {
    /// The clocks of relaxed reads, for the next acquire fence.
    met: Clock,
    /// The clock of the last release fence.
    released: Clock,
}

impl Atomics {
    pub(crate) fn new(threads: usize) -> Self {
        Atomics { memory: FxHashMap::default(), threads: vec![Fences::default(); threads] }
    }

    /// An atomic operation.
    pub(crate) fn step(
        &mut self,
        clocks: &mut Clocks,
        (thread, index): (usize, u32),
        addr: u64,
        ordering: Ordering,
        op: AtomicOp,
    ) {
        let (reads, writes) = match op {
            AtomicOp::Load(_) | AtomicOp::CasFailed { .. } => (true, false),
            AtomicOp::Store(_) => (false, true),
            AtomicOp::Rmw { .. } | AtomicOp::Cas { .. } => (true, true),
        };
        let fences = &mut self.threads[thread];
        let memory = self.memory.entry(addr).or_default();
        if reads && acquires(ordering) {
            clocks.learn(thread, index, memory);
        } else if reads {
            fences.met.join(memory);
        }
        if !writes {
            return;
        }
        // A read-modify-write continues the release sequence.
        if !reads {
            *memory = Clock::default();
        }
        if releases(ordering) {
            memory.join(&clocks.after(thread, index));
        } else {
            memory.join(&fences.released);
        }
    }

    /// A fence.
    pub(crate) fn fence(
        &mut self,
        clocks: &mut Clocks,
        (thread, index): (usize, u32),
        ordering: Ordering,
    ) {
        let fences = &mut self.threads[thread];
        if acquires(ordering) {
            clocks.learn(thread, index, &fences.met);
        }
        if releases(ordering) {
            fences.released = clocks.after(thread, index);
        }
    }
}

fn acquires(ordering: Ordering) -> bool {
    match ordering {
        Ordering::Acquire | Ordering::Consume | Ordering::AcqRel | Ordering::SeqCst => true,
        Ordering::Relaxed | Ordering::Release => false,
    }
}

fn releases(ordering: Ordering) -> bool {
    match ordering {
        Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => true,
        Ordering::Relaxed | Ordering::Consume | Ordering::Acquire => false,
    }
}
