//! Decides whether a run performed a candidate.
//!
//! The schedule ensures that threads reach the right places in the right order as long as the
//! program follows it. But where values differ from those of the recorded run, an access may go to
//! another object; and a program that leaves its schedule may still perform the candidate, or fail
//! because of the part of it that it has performed. Therefore the trace of the run decides: each
//! access of the candidate is looked up in its thread, at the same place and the same visit to that
//! place.
//!
//! - If all accesses are present, to the same variables and in the order of the candidate, the
//!   program performed it.
//! - If the run failed before it reached the last ones, it performed the candidate if the accesses
//!   up to there are in order and two of them are reversed: they conflict, they were in the other
//!   order in the recorded run, and both were done. A write that should follow a read need not have
//!   been done: the value that was read is the harm. If no two accesses are reversed, the failure
//!   is unrelated to the candidate.
//! - The accesses of a race need not be adjacent if the C++ memory model does not order them in this
//!   run, although an atomic operation hands a value over between them.
//! - If the schedule preserves every known value, it is enough that nothing contradicts the
//!   candidate. But code that is not recorded may write as well, and then the same place may access
//!   another variable.

use norn_model::{
    Access, Candidate, CandidateKind, Consequence, Event, EventId, MemoryFault, Op, SiteId, Step,
    ThreadId, Trace,
    memory_model::{AtomicEdges, Edges, HappensBefore},
};
use norn_replay::SymbolizedTrace;
use norn_report::{FailureKind, Story};
use norn_trace::EventIndex;

use crate::{
    attempt::too_early,
    executor::Run,
    source::{Source, place},
};

/// Whether a run did not end, and the threads of the predicted deadlock are among those that are
/// blocked forever.
pub(crate) fn is_stuck(source: &Source, candidate: &Candidate, run: &Run) -> bool {
    let Some(Story { failure, .. }) = &run.story else { return false };
    let waiters = match (failure, run.consequence()) {
        (FailureKind::Stuck(stuck), Consequence::Deadlock) => &stuck.waiters,
        (FailureKind::Running(running), Consequence::Livelock) => &running.waiters,
        _ => return false,
    };
    let waits = |thread| waiters.iter().any(|it| it.step.thread == thread);
    candidate.stuck.iter().all(|it| waits(source.symbolized.thread(it.event.thread)))
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'a> {
    /// Whether it reached the candidate's last event as scheduled.
    pub(crate) followed: bool,
    pub(crate) consequence: &'a Consequence,
}

/// Whether a run performed a candidate.
pub(crate) fn is_done(
    source: &Source,
    candidate: &Candidate,
    run: &SymbolizedTrace,
    end: End<'_>,
) -> bool {
    !is_contradicted(candidate, end.consequence) && doing(source, candidate, run).is_done(end)
}

/// Whether the end of a run shows that it did not perform a candidate. The runtime notices each use of freed
/// memory; without a failure, the block that was freed was another one.
pub(crate) fn is_contradicted(candidate: &Candidate, consequence: &Consequence) -> bool {
    candidate.kind == CandidateKind::UseAfterFree && !consequence.is_failure()
}

/// Whether those accesses of a candidate that a run performed are to the same variables.
pub(crate) fn is_plausible(source: &Source, candidate: &Candidate, run: &SymbolizedTrace) -> bool {
    !doing(source, candidate, run).is_scattered()
}

/// Whether a run performed the accesses of a data race, to the same variable, and happens-before does
/// not order them there. A handover by atomic operations must be all that keeps them apart: anything
/// else might be synchronisation that the trace does not have.
pub(crate) fn is_unordered(source: &Source, candidate: &Candidate, run: &Source) -> bool {
    let doing = doing(source, candidate, &run.symbolized);
    doing.is_unordered(&run.trace, |it| run.positions.loaded(it))
}

/// The events of a run that are those of a candidate; none if it does not have all of them.
pub(crate) fn events(
    source: &Source,
    candidate: &Candidate,
    run: &SymbolizedTrace,
) -> Option<Vec<EventId>> {
    doing(source, candidate, run).now.iter().map(|it| it.map(|it| it.event)).collect()
}

/// The part of a candidate that a run performed.
///
/// The run is only looked up where its events are needed: to load what is relevant of a long run would take longer
/// than the run itself.
fn doing<'a>(source: &'a Source, candidate: &'a Candidate, run: &SymbolizedTrace) -> Doing<'a> {
    let now = |step: &Step| {
        let event = event_again(source, step.event, run)?;
        // Only the schedule ensures that events are adjacent, and it counts events.
        if candidate.adjacent && event.id.index != source.recorded(step.event).index {
            return None;
        }
        let at = (run.trace.number_at(event.id.thread, event.id.index)?, event.id.index);
        Some(Done { event: event.id, at, addr: address(event.op)? })
    };
    let now: Vec<_> = candidate.steps.iter().map(now).collect();
    Doing { recorded: &source.trace, candidate, now }
}

/// Finds an event of a trace in another run: in its thread, at the same place and visit.
pub(crate) fn event_again(source: &Source, id: EventId, run: &SymbolizedTrace) -> Option<Event> {
    let name = source.symbolized.thread(id.thread);
    let did = &run.trace;
    let thread = did.threads().iter().find(|it| it.name == name)?.id;
    let here = place(&source.symbolized.trace, source.trace.event(id)?.site);
    let sites = (0..u32::try_from(did.sites().len()).ok()?).map(SiteId);
    let site = sites.into_iter().find(|it| place(did, *it) == here)?;
    again((&source.symbolized.trace, source.recorded(id)), (did, thread, site))
}

/// The part of a candidate that a run performed.
#[derive(Debug)]
struct Doing<'a> {
    /// The trace from which it was predicted.
    recorded: &'a Trace,
    candidate: &'a Candidate,
    /// The run's instance of each access, if it is in the run.
    now: Vec<Option<Done>>,
}

/// An access that was performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    event: EventId,
    at: Moment,
    /// Its address.
    addr: u64,
}

/// When an event happened: its number in the order of turns, and its index in its thread.
pub(crate) type Moment = (u64, u64);

impl Doing<'_> {
    fn is_done(&self, End { followed, consequence }: End<'_>) -> bool {
        let (steps, failed) = (self.candidate.steps.len(), consequence.is_failure());
        let done = self.now.iter().take_while(|it| it.is_some()).count();
        let early = too_early(self.candidate).is_some() && done == 1;
        let scattered = self.now[done..].iter().any(Option::is_some);
        if scattered || !followed && self.candidate.adjacent {
            return false;
        }
        if !self.is_ordered(done) || !self.agrees(done) {
            return false;
        }
        // The access that ended the run is not in the trace.
        let last = self.candidate.steps.last().map(|it| it.access);
        let uses = last == Some(Access::Use);
        let ended = match (consequence, last) {
            (Consequence::Memory(MemoryFault::UseAfterDestroy), Some(_)) => uses,
            (Consequence::Memory(MemoryFault::UseAfterFree), Some(_)) => {
                self.candidate.kind == CandidateKind::UseAfterFree || !uses
            }
            (Consequence::Memory(_), Some(_)) => !uses,
            _ => false,
        };
        done == steps
            || followed && done + 1 == steps && (early || ended)
            || failed && self.has_changed_places(done)
    }

    /// `loaded` gives the event of a trace that is this one in the run.
    fn is_unordered(&self, run: &Trace, loaded: impl Fn(EventId) -> Option<EventId>) -> bool {
        let loaded = |it: &Option<Done>| loaded((*it)?.event);
        let all: Option<Vec<_>> = self.now.iter().map(loaded).collect();
        let done = self.now.len();
        let Some(all) = all.filter(|_| self.is_ordered(done) && self.agrees(done)) else {
            return false;
        };
        let declared = HappensBefore::new(run, Edges::CXX20);
        let handovers =
            HappensBefore::new(run, Edges { atomics: AtomicEdges::SeqCst, ..Edges::CXX20 });
        all.windows(2)
            .all(|it| !declared.is_before(it[0], it[1]) && handovers.is_before(it[0], it[1]))
    }

    /// Whether the first `done` accesses happened in order.
    fn is_ordered(&self, done: usize) -> bool {
        self.now[..done].is_sorted_by(|a, b| a.map(|it| it.at) < b.map(|it| it.at))
    }

    /// Whether, of the first `done` accesses, all to one variable have moved by the same distance.
    /// The variable itself may be another one. If the remaining accesses are missing, their
    /// distance is unknown, so only the recorded addresses are accepted.
    fn agrees(&self, done: usize) -> bool {
        let steps = &self.candidate.steps;
        let same = |at: usize| {
            let others = (0..done).filter(|it| steps[*it].addr == steps[at].addr);
            let moved = self.moved(at);
            let known = moved.is_some_and(|it| it == 0 || done == steps.len());
            known && others.into_iter().all(|it| self.moved(it) == moved)
        };
        (0..done).all(same)
    }

    /// Whether two accesses to one variable have moved by different distances.
    fn is_scattered(&self) -> bool {
        let steps = &self.candidate.steps;
        let moved = |at: usize| Some((steps[at].addr, self.moved(at)?));
        let moved: Vec<_> = (0..steps.len()).filter_map(moved).collect();
        moved.iter().any(|one| moved.iter().any(|it| it.0 == one.0 && it.1 != one.1))
    }

    /// The distance between the address of an access and its address in the recorded run.
    fn moved(&self, at: usize) -> Option<u64> {
        let before = self.recorded.event(self.candidate.steps[at].event)?;
        Some(self.now[at]?.addr.wrapping_sub(address(before.op)?))
    }

    /// Whether two conflicting accesses are reversed with respect to the recorded run. The write
    /// that a read precedes need not have been performed.
    fn has_changed_places(&self, done: usize) -> bool {
        let steps = &self.candidate.steps;
        let reads = |it: &Step| it.access == Access::Read;
        let was = |it: &Step| moment(self.recorded, it.event);
        (0..done).any(|first| {
            let one = &steps[first];
            let later = if reads(one) { steps.len() } else { done };
            steps[first + 1..later].iter().any(|other| {
                let apart = one.event.thread != other.event.thread && one.addr == other.addr;
                apart && !(reads(one) && reads(other)) && was(other) < was(one)
            })
        })
    }
}

/// Finds an event of one trace in another: at the same index, or else at the same visit of its
/// thread to its place.
fn again(
    (before, old): (&dyn EventIndex, EventId),
    (after, thread, site): (&dyn EventIndex, ThreadId, SiteId),
) -> Option<Event> {
    let same = after.event(EventId { thread, ..old }).filter(|it| it.site == site);
    let visit = || {
        let place = before.event(old)?.site;
        let visits = before.visits(old.thread, 0..old.index, &mut |it| it == place);
        after.visit(thread, visits, &mut |it| it == site)
    };
    same.or_else(visit)
}

/// When an event happened. An event without a number follows directly after the last event of its
/// thread that has one.
pub(crate) fn moment(trace: &Trace, id: EventId) -> Option<Moment> {
    Some((number(trace, id.thread, id.index + 1)?, id.index))
}

/// The last sequence number among the first `upto` events of a thread.
pub(crate) fn number(trace: &Trace, thread: ThreadId, upto: u64) -> Option<u64> {
    let thread = trace.thread(thread)?;
    let events = thread.events.iter().take(usize::try_from(upto).ok()?);
    Some(events.rev().find_map(|it| it.seq).unwrap_or(thread.after))
}

fn address(op: Op) -> Option<u64> {
    match op {
        Op::Read { addr, .. }
        | Op::Write { addr, .. }
        | Op::Atomic { addr, .. }
        | Op::Free { addr }
        | Op::Init { object: addr, .. }
        | Op::Destroy { object: addr, .. }
        | Op::Use { object: addr, .. }
        | Op::Acquire { lock: addr, .. }
        | Op::Release { lock: addr, .. }
        | Op::Wait { cond: addr, .. }
        | Op::Signal { cond: addr }
        | Op::Broadcast { cond: addr }
        | Op::BarrierEnter { barrier: addr }
        | Op::SemPost { semaphore: addr }
        | Op::SemWait { semaphore: addr, .. } => Some(addr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, CandidateKind, Scope, text};

    use super::*;

    /// Both threads read, then write; T1 goes first.
    const RECORDED: &str = "T1 r x 0 @ asks\nT1 w x 1 @ sets\nT2 r x 1 @ looks\nT2 w x 2 @ adds";

    /// The first event at a place.
    fn at(trace: &Trace, place: &str) -> EventId {
        let is = |it: &Event| trace.site(it.site).unwrap().place.as_deref() == Some(place);
        trace.merged().find(|it| is(it)).unwrap().id
    }

    fn candidate(trace: &Trace, class: BugClass, places: &str) -> Candidate {
        let step = |place: &str| {
            let event = at(trace, place);
            let op = trace.event(event).unwrap().op;
            let access = if matches!(op, Op::Read { .. }) { Access::Read } else { Access::Write };
            let site = trace.event(event).unwrap().site;
            Step { event, site, addr: address(op).unwrap(), access, region: (0, 0) }
        };
        Candidate {
            kind: CandidateKind::pattern(class, "any"),
            adjacent: false,
            steps: places.split(' ').map(step).collect(),
            stuck: Vec::new(),
            scope: Scope::Single,
            instance: 0,
        }
    }

    /// Whether a run performed the accesses at these places.
    fn is_done(class: BugClass, places: &str, run: &str, end: End<'_>) -> bool {
        with(class, places, run, |doing| doing.is_done(end))
    }

    /// Evaluates the part of the accesses at these places that a run performed.
    fn with(class: BugClass, places: &str, run: &str, ask: impl Fn(&Doing<'_>) -> bool) -> bool {
        let ordered = |it: &str| text::parse(&format!("order global\n{it}")).unwrap();
        let (recorded, run) = (ordered(RECORDED), ordered(run));
        let candidate = candidate(&recorded, class, places);
        let now = |step: &Step| {
            let place = &recorded.site(step.site)?.place;
            let same = |it: &Event| run.site(it.site).is_some_and(|it| it.place == *place);
            let site = run.merged().find(|it| same(it))?.site;
            let name = &recorded.thread(step.event.thread)?.name;
            let thread = run.threads.iter().find(|it| it.name == *name)?.id;
            let event = again((&recorded, step.event), (&run, thread, site))?;
            let at = moment(&run, event.id)?;
            Some(Done { event: event.id, at, addr: address(event.op)? })
        };
        let now = candidate.steps.iter().map(now).collect();
        ask(&Doing { recorded: &recorded, candidate: &candidate, now })
    }

    const PASSED: End<'_> = End { followed: false, consequence: &Consequence::None };
    const FAILED: End<'_> = End { followed: false, consequence: &Consequence::Abort };

    #[test]
    fn who_leaves_the_schedule_may_do_it_nevertheless() {
        let is_done = |run| is_done(BugClass::Atomicity, "asks looks sets", run, PASSED);
        assert!(is_done("T1 r x 0 @ asks\nT2 r x 0 @ looks\nT2 yield\nT1 w x 1 @ sets"));
        assert!(!is_done(RECORDED));
        assert!(!is_done("T1 r x 0 @ asks\nT2 r x 0 @ looks\nT1 w x 1 @ elsewhere"));
        assert!(!is_done("T1 r x 0 @ asks\nT2 r y 0 @ looks\nT1 w x 1 @ sets"));
    }

    #[test]
    fn places_count_and_not_numbers() {
        let run = "T1 yield\nT1 r x 0 @ asks\nT2 r x 0 @ looks\nT1 w x 1 @ sets";
        assert!(is_done(BugClass::Atomicity, "asks looks sets", run, PASSED));
    }

    #[test]
    fn a_failure_after_two_have_changed_places() {
        let failed = |run| is_done(BugClass::Atomicity, "asks looks sets", run, FAILED);
        assert!(failed("T1 r x 0 @ asks\nT2 r x 0 @ looks\nT2 abort"));
        assert!(!failed("T1 r x 0 @ asks\nT1 abort"));
        let passes = "T1 r x 0 @ asks\nT2 r x 0 @ looks";
        assert!(!is_done(BugClass::Atomicity, "asks looks sets", passes, PASSED));
    }

    #[test]
    fn the_same_places_but_not_the_same_variable() {
        let ask = |it: &Doing<'_>| it.is_scattered();
        let scattered = |run| with(BugClass::Race, "asks looks sets", run, ask);
        assert!(!scattered(RECORDED));
        assert!(!scattered("T1 r y 0 @ asks\nT1 w y 1 @ sets\nT2 r y 1 @ looks"));
        assert!(!scattered("T2 r y 1 @ looks"));
        assert!(scattered("T1 r x 0 @ asks\nT2 r y 1 @ looks"));
    }

    #[test]
    fn a_write_that_nobody_has_seen_changes_nothing() {
        let run = "T1 r x 0 @ asks\nT2 w x 2 @ adds\nT2 abort";
        assert!(!is_done(BugClass::Atomicity, "asks adds sets", run, FAILED));
    }

    /// Whether a run leaves the write at `sets` and the read at `looks` unordered, with these
    /// operations in between.
    fn is_unordered(between: &str) -> bool {
        let run = format!("T1 r x 0 @ asks\nT1 w x 1 @ sets\n{between}\nT2 r x 1 @ looks");
        let trace = text::parse(&format!("order global\n{run}")).unwrap();
        with(BugClass::Race, "sets looks", &run, |it| it.is_unordered(&trace, Some))
    }

    #[test]
    fn a_relaxed_handover_leaves_a_race_unordered() {
        assert!(is_unordered("T1 store f 1 relaxed\nT2 load f 1 relaxed"));
        assert!(is_unordered("T1 store f 1 release\nT2 load f 1 relaxed"));
        assert!(!is_unordered("T1 store f 1 release\nT2 load f 1 acquire"));
        assert!(!is_unordered(
            "T1 store f 1 relaxed\nT1 acq m\nT1 rel m\nT2 acq m\nT2 rel m\nT2 load f 1 relaxed"
        ));
        // Something that is not recorded may keep these apart.
        assert!(!is_unordered("T1 yield\nT2 yield"));
    }

    #[test]
    fn a_read_that_comes_too_early() {
        let run = "T2 r x 0 @ looks\nT1 r x 0 @ asks\nT1 w y 1 @ other";
        let followed = End { followed: true, ..PASSED };
        assert!(is_done(BugClass::Order, "looks sets", run, followed));
        assert!(is_done(BugClass::Order, "looks sets", run, FAILED));
        assert!(!is_done(BugClass::Order, "looks sets", run, PASSED));
        assert!(!is_done(BugClass::Order, "looks sets", RECORDED, followed));
    }
}
