//! The locks that a thread holds at any of its events, without a pass over its earlier events.

use rustc_hash::FxHashMap;

use crate::{EventId, Held, Op, ThreadId, Trace};

/// Number of changes between two stored sets. A query applies at most as many.
const STRIDE: usize = 64;

/// The locks held at each event of a trace.
#[derive(Clone, Debug, Default)]
pub struct HeldIndex {
    threads: FxHashMap<ThreadId, History>,
}

/// The acquisitions and releases of one thread.
#[derive(Clone, Debug, Default)]
struct History {
    /// The events that acquire or release, by index.
    changes: Vec<(u64, Op)>,
    /// The locks held before each change whose position is a multiple of [`STRIDE`].
    stored: Vec<Held>,
    /// The locks held after all changes so far.
    last: Held,
}

impl HeldIndex {
    /// Builds the index in one pass.
    pub fn new(trace: &Trace) -> HeldIndex {
        let mut index = HeldIndex::default();
        for thread in &trace.threads {
            let history = index.threads.entry(thread.id).or_default();
            thread.events.iter().for_each(|it| history.add(it.id.index, it.op));
        }
        index
    }

    /// The locks that the thread of an event holds before it.
    pub fn before(&self, event: EventId) -> Held {
        self.threads.get(&event.thread).map(|it| it.before(event.index)).unwrap_or_default()
    }
}

impl History {
    fn add(&mut self, index: u64, op: Op) {
        if op.effect().lock().is_none() {
            return;
        }
        if self.changes.len().is_multiple_of(STRIDE) {
            self.stored.push(self.last.clone());
        }
        self.changes.push((index, op));
        self.last.step(&op);
    }

    fn before(&self, index: u64) -> Held {
        let end = self.changes.partition_point(|it| it.0 < index);
        if end == self.changes.len() {
            return self.last.clone();
        }
        let mut held = self.stored[end / STRIDE].clone();
        self.changes[end / STRIDE * STRIDE..end].iter().for_each(|(_, op)| held.step(op));
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LockMode, Outcome};

    #[test]
    fn every_query_equals_a_pass_over_the_events_before() {
        let mut history = History::default();
        let mut expected = vec![Held::default()];
        let ops = (0..1000_u64).map(|it| match it % 5 {
            0 | 1 => Op::Acquire { lock: it % 7, mode: LockMode::Mutex, how: Outcome::Waited },
            3 => Op::Release { lock: it % 3, mode: LockMode::Mutex },
            _ => Op::Yield,
        });
        for (index, op) in (0..).zip(ops) {
            history.add(index, op);
            let mut held = expected.last().unwrap().clone();
            held.step(&op);
            expected.push(held);
        }
        assert!(history.stored.len() > 5);
        for (index, held) in (0..).zip(expected) {
            assert_eq!(history.before(index), held, "at {index}");
        }
    }
}
