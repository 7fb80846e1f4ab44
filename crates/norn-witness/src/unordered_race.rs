//! Data races whose accesses cannot be adjacent: a relaxed handover is between them.
//!
//! A thread writes data and then sets a flag; another one sees the flag and reads the data. No order
//! of these events that keeps the value of the flag brings the accesses to the data together. But if
//! the flag is relaxed, nothing orders them by the C++ memory model, and they race nevertheless: in
//! the recorded order, or in another one if a lock orders them there by chance.
//!
//! The same holds for memory that is freed after a use: a reference counter may ensure that it is freed
//! last, and still not order it after what the other threads did.
//!
//! Only atomic operations may be what keeps the accesses apart: they would be ordered if each atomic
//! operation were sequentially consistent. Where something else does, it may be synchronisation that
//! the trace does not have, and then only adjacent accesses prove a race.

use std::sync::OnceLock;

use norn_model::{
    Access, BugClass, Candidate, CandidateKind, Op, Step, Trace,
    memory_model::{AtomicEdges, Edges, HappensBefore},
};

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

    /// The race that a candidate is if its events cannot be in the order that it asks for, and atomic
    /// operations are what prevents that.
    pub(crate) fn candidate(&self, candidate: &Candidate) -> Option<Candidate> {
        let race = unordered(candidate)?;
        let handovers = self.handovers.get_or_init(|| self.handovers()).as_ref()?;
        let apart = |it: &[Step]| handovers.is_before(it[0].event, it[1].event);
        race.steps.windows(2).all(apart).then_some(race)
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
}

/// A race without the demand that its accesses are adjacent; a use after free as a race, in the order
/// in which the memory is freed last.
fn unordered(candidate: &Candidate) -> Option<Candidate> {
    // A call on a synchronisation object is no access that could race.
    let is_access = |it: &Step| it.access != Access::Use;
    let is_use =
        candidate.kind == CandidateKind::UseAfterFree && candidate.steps.iter().all(is_access);
    let is_race = candidate.class() == BugClass::Race && candidate.adjacent;
    let kind = if is_use { CandidateKind::UseFreeRace } else { candidate.kind.clone() };
    let mut race = Candidate { kind, adjacent: false, ..candidate.clone() };
    if is_use {
        race.steps.reverse();
    }
    (is_use || is_race).then_some(race)
}
