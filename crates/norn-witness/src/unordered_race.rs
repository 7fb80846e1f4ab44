//! Data races whose accesses cannot be adjacent: a relaxed handover is between them.
//!
//! A thread writes data and then sets a flag; another one sees the flag and reads the data. No order
//! of these events that keeps the value of the flag brings the accesses to the data together. But if
//! the flag is relaxed, nothing orders them by the C++ memory model, and they race nevertheless: in
//! the recorded order, or in another one if a lock orders them there by chance.
//!
//! Only atomic operations may be what keeps the accesses apart: they would be ordered if each atomic
//! operation were sequentially consistent. Where something else does, it may be synchronisation that
//! the trace does not have, and then only adjacent accesses prove a race.

use std::sync::OnceLock;

use norn_model::{
    BugClass, Candidate, Op, Trace,
    memory_model::{AtomicEdges, Edges, HappensBefore},
};

use crate::Turn;

/// The data races of one trace whose accesses cannot be adjacent.
#[derive(Debug)]
pub(crate) struct UnorderedRaces<'a> {
    trace: &'a Trace,
    /// What would be ordered if each atomic operation were sequentially consistent; none if the
    /// trace has no weaker operation.
    handovers: OnceLock<Option<HappensBefore>>,
}

impl<'a> UnorderedRaces<'a> {
    /// Looks at nothing before the first question.
    pub(crate) fn new(trace: &'a Trace) -> Self {
        UnorderedRaces { trace, handovers: OnceLock::new() }
    }

    /// The same race without the demand that its accesses are adjacent, if atomic operations are what
    /// keeps them apart.
    pub(crate) fn candidate(&self, race: &Candidate) -> Option<Candidate> {
        let steps = (race.class() == BugClass::Race && race.adjacent).then_some(&race.steps)?;
        let handovers = self.handovers.get_or_init(|| self.handovers()).as_ref()?;
        let apart = |it: &[norn_model::Step]| handovers.is_before(it[0].event, it[1].event);
        let candidate = || Candidate { adjacent: false, ..race.clone() };
        steps.windows(2).all(apart).then(candidate)
    }

    fn handovers(&self) -> Option<HappensBefore> {
        let events = self.trace.threads.iter().flat_map(|it| &it.events);
        let weak = |op: &Op| {
            let Op::Atomic { ordering, op, .. } = *op else { return false };
            op.reads() && !ordering.acquires() || op.writes() && !ordering.releases()
        };
        // Locks do not count: their sections can be exchanged.
        let edges = Edges { atomics: AtomicEdges::SeqCst, locks: false };
        let any = events.into_iter().any(|it| weak(&it.op));
        any.then(|| HappensBefore::new(self.trace, edges))
    }

    /// The recorded order up to the last event of a candidate.
    pub(crate) fn recorded(&self, candidate: &Candidate) -> Vec<Turn> {
        let last = candidate.steps.last().map(|it| it.event);
        let mut turns: Vec<Turn> = Vec::new();
        for event in self.trace.merged() {
            let (thread, until) = (event.id.thread, event.id.index + 1);
            match turns.last_mut() {
                Some(turn) if turn.thread == thread => turn.until = until,
                _ => turns.push(Turn { thread, until }),
            }
            if Some(event.id) == last {
                break;
            }
        }
        turns
    }
}
