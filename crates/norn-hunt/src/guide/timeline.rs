//! The order of a run, indexed: where each event is, which critical section it belongs to, and which
//! threads access the same memory.

use std::collections::BTreeMap;

use norn_model::{Effect, EventId, LockEffect, Outcome, ThreadEffect, ThreadId, Trace};

use crate::section::sections;

/// The order of a run.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// All events.
    pub(super) order: Vec<EventId>,
    threads: BTreeMap<ThreadId, ThreadLine>,
    /// The accesses to memory that several threads access, one of them with a write, by address.
    pub(super) shared: BTreeMap<u64, Vec<SharedAccess>>,
    /// The acquisitions of locks that some thread only tries to acquire, by lock.
    pub(super) tried: BTreeMap<u64, Vec<Acquisition>>,
}

/// The events of one thread.
#[derive(Debug, Default)]
struct ThreadLine {
    /// The position of each event in the order.
    positions: Vec<usize>,
    /// The first and the last event of the outermost critical section around each event; the event
    /// itself if there is none.
    sections: Vec<(u64, u64)>,
    /// The event that creates the thread.
    fork: Option<EventId>,
}

/// An access to shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedAccess {
    pub(super) event: EventId,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// An acquisition of a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquisition {
    pub(super) event: EventId,
    /// Whether the thread did not wait for the lock.
    pub(super) tried: bool,
}

impl Timeline {
    pub(super) fn new(trace: &Trace) -> Timeline {
        let mut timeline = Timeline::default();
        let mut forks = BTreeMap::new();
        for event in trace.merged() {
            let line = timeline.threads.entry(event.id.thread).or_default();
            line.positions.push(timeline.order.len());
            timeline.order.push(event.id);
            let effect = event.op.effect();
            match effect {
                Effect::Access(it) => {
                    let access = SharedAccess {
                        event: event.id,
                        reads: it.read.is_some(),
                        writes: it.write.is_some(),
                    };
                    timeline.shared.entry(it.addr).or_default().push(access);
                }
                Effect::Thread(ThreadEffect::Fork(child)) => {
                    forks.insert(child, event.id);
                }
                _ => {}
            }
            if let Some(LockEffect::Acquire { lock, how, .. }) = effect.lock() {
                let tried = how == Outcome::Tried;
                let acquisition = Acquisition { event: event.id, tried };
                timeline.tried.entry(lock).or_default().push(acquisition);
            }
        }
        timeline.shared.retain(|_, it| is_shared(it));
        timeline.tried.retain(|_, it| it.iter().any(|it| it.tried));
        for thread in &trace.threads {
            if let Some(line) = timeline.threads.get_mut(&thread.id) {
                line.sections = sections(&thread.events);
                line.fork = forks.get(&thread.id).copied();
            }
        }
        timeline
    }

    /// The position of an event in the order; the end of it if there is no such event.
    pub(super) fn position(&self, event: EventId) -> usize {
        let line = self.threads.get(&event.thread);
        let index = usize::try_from(event.index).unwrap_or(usize::MAX);
        line.and_then(|it| it.positions.get(index)).copied().unwrap_or(self.order.len())
    }

    /// The first and the last event of the outermost critical section around an event.
    pub(super) fn section(&self, event: EventId) -> (u64, u64) {
        let line = self.threads.get(&event.thread);
        let index = usize::try_from(event.index).unwrap_or(usize::MAX);
        let section = line.and_then(|it| it.sections.get(index)).copied();
        section.unwrap_or((event.index, event.index))
    }

    /// The event that creates a thread.
    pub(super) fn fork(&self, thread: ThreadId) -> Option<EventId> {
        self.threads.get(&thread)?.fork
    }

    /// Number of events of a thread.
    pub(super) fn len(&self, thread: ThreadId) -> u64 {
        self.threads.get(&thread).map_or(0, |it| it.positions.len() as u64)
    }
}

fn is_shared(accesses: &[SharedAccess]) -> bool {
    let several = accesses.iter().any(|it| it.event.thread != accesses[0].event.thread);
    several && accesses.iter().any(|it| it.writes)
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    fn timeline(run: &str) -> Timeline {
        Timeline::new(&text::parse(&format!("order global\n{run}")).unwrap_or_default())
    }

    #[test]
    fn sections_are_outermost() {
        let line = timeline("T1 acq m\nT1 acq n\nT1 w x 1\nT1 rel n\nT1 rel m\nT1 r y 0");
        let thread = line.order[0].thread;
        let section = |index| line.section(EventId { thread, index });
        assert_eq!([section(0), section(2), section(4)], [(0, 4); 3]);
        assert_eq!(section(5), (5, 5));
    }

    #[test]
    fn only_shared_memory_and_tried_locks_count() {
        let line = timeline("T1 w x 1\nT2 r x 1\nT1 w y 1\nT2 r z 0\nT1 r z 0");
        assert_eq!((line.shared.len(), line.tried.len()), (1, 0));
        let line =
            timeline("T1 acq m\nT1 rel m\nT2 acq m mutex tried\nT2 rel m\nT2 acq n\nT2 rel n");
        assert_eq!(line.tried.values().map(Vec::len).collect::<Vec<_>>(), [2]);
    }
}
