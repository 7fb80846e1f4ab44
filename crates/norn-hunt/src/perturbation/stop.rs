//! The points at which the threads of a perturbed run are held.

use std::collections::BTreeMap;

use norn_model::{EventId, ThreadId, Trace};
use norn_witness::Turn;

use crate::section::sections;

/// Where a thread is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Before its event with this index: it has seen only what it saw in the recorded run.
    At(ThreadId, u64),
    /// Before it makes the access, lock or unlock of this event, wherever its path leads before. Its visits
    /// to the place are counted from this index.
    Before(EventId, u64),
    /// After that.
    After(EventId, u64),
}

/// Makes the stops of a perturbed run from turns.
pub(super) struct Builder<'a> {
    trace: &'a Trace,
    /// The accesses, in order.
    steps: Vec<EventId>,
    /// From which event on a thread may be on another path.
    departs: BTreeMap<ThreadId, u64>,
    /// By thread: the event from which visits to places are counted.
    counted: BTreeMap<ThreadId, u64>,
    stops: Vec<Stop>,
}

impl Builder<'_> {
    pub(super) fn new(
        trace: &Trace,
        steps: Vec<EventId>,
        departs: BTreeMap<ThreadId, u64>,
    ) -> Builder<'_> {
        let counted = departs.clone();
        Builder { trace, steps, departs, counted, stops: Vec::new() }
    }

    /// The stops; none if there are no turns.
    pub(super) fn build(mut self, turns: &[Turn]) -> Option<Vec<Stop>> {
        let mut done: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for &Turn { thread, until } in turns {
            let from = done.insert(thread, until).unwrap_or(0);
            let departs = self.departs.get(&thread).copied().unwrap_or(u64::MAX);
            if from < departs {
                self.stops.push(Stop::At(thread, until.min(departs)));
            }
            if departs < until {
                self.lead(thread, from.max(departs), until);
            }
        }
        self.end_with_last()
    }

    /// A turn of a thread that may be on another path. If it has no access, its thread is held before the next
    /// one; otherwise it leaves the critical section of its last access, if it does in the turn.
    fn lead(&mut self, thread: ThreadId, from: u64, until: u64) {
        let own = self.steps.iter().copied().filter(|it| it.thread == thread);
        let own: Vec<_> = own.filter(|it| it.index >= from).collect();
        let (now, later): (Vec<_>, Vec<_>) = own.into_iter().partition(|it| it.index < until);
        for step in &now {
            let from = self.count(*step, 1);
            self.stops.push(Stop::After(*step, from));
        }
        let (event, stop): (_, fn(EventId, u64) -> Stop) = match (now.last(), later.first()) {
            (Some(last), _) if self.steps.last() != Some(last) => {
                let end = section(self.trace, *last).1;
                let leaves = last.index < end && end < until;
                (leaves.then_some(EventId { thread, index: end }), Stop::After)
            }
            (None, Some(next)) => {
                let begin = section(self.trace, *next).0;
                ((begin >= from).then_some(EventId { thread, index: begin }), Stop::Before)
            }
            _ => return,
        };
        if let Some(event) = event {
            let passes = u64::from(now.last().is_some());
            let from = self.count(event, passes);
            self.stops.push(stop(event, from));
        }
    }

    /// From where visits to the place of an event are counted. The next ones are counted from that event.
    fn count(&mut self, event: EventId, passes: u64) -> u64 {
        self.counted.insert(event.thread, event.index + passes).unwrap_or(0)
    }

    /// The last access is a stop of its own, so that a run that fails with it has arrived there.
    fn end_with_last(mut self) -> Option<Vec<Stop>> {
        let last = match self.stops.pop()? {
            Stop::At(thread, until) => {
                let event = EventId { thread, index: until.checked_sub(1)? };
                self.stops.push(Stop::At(thread, event.index));
                event
            }
            Stop::Before(event, from) | Stop::After(event, from) => {
                self.stops.push(Stop::Before(event, from));
                event
            }
        };
        self.stops.push(Stop::After(last, last.index));
        Some(self.stops)
    }
}

/// The outermost critical section around an event.
pub(super) fn section(trace: &Trace, event: EventId) -> (u64, u64) {
    let events = trace.thread(event.thread).map_or(&[][..], |it| &it.events);
    let all = sections(events);
    let index = usize::try_from(event.index).unwrap_or(usize::MAX);
    all.get(index).copied().unwrap_or((event.index, event.index))
}
