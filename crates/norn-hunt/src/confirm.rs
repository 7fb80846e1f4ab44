//! Whether a run really did a candidate.
//!
//! The schedule sees to it that threads come to the right places in the right order, as long as the
//! program follows. But where values differ from those of the recorded run, an access may be to
//! something else; and a program that leaves its schedule may do the candidate all the same, or fail
//! because of what it has done of it. So the trace of the run is asked: each access of the candidate is
//! looked for in the thread that is to do it, at its place, at the same visit there.
//!
//! - If all are there, to the same variables and in the order of the candidate, the program did it.
//! - If the run failed before it came to the last ones, it did it if the accesses up to there are in
//!   order, and two of them have changed places: they conflict, they were the other way round in
//!   the recorded run, and both were done. A read need not be followed by the write that it came
//!   before: what it has seen is the harm. If no two have changed places, the failure was on the way.
//! - Where the schedule keeps every value that is known, it is enough that nothing speaks against it.
//!   But code that is not recorded may write, too, and then the same place may have to do with
//!   another variable.

use norn_model::{
    Access, Candidate, Consequence, Event, EventId, MemoryFault, Op, SiteId, Step, ThreadId, Trace,
};
use norn_report::{FailureKind, Story};

use crate::{
    attempt::too_early,
    executor::Run,
    source::{Source, place},
};

/// Whether a run did not end, and the threads of a deadlock are among those that never went on.
pub(crate) fn is_stuck(source: &Source, candidate: &Candidate, run: &Run) -> bool {
    let Some(Story { failure, .. }) = &run.story else { return false };
    let waiters = match (failure, run.consequence()) {
        (FailureKind::Stuck(stuck), Consequence::Deadlock) => &stuck.waiters,
        (FailureKind::Running(running), Consequence::Livelock | Consequence::Hang(_)) => {
            &running.waiters
        }
        _ => return false,
    };
    let waits = |thread| waiters.iter().any(|it| it.step.thread == thread);
    candidate.stuck.iter().all(|it| waits(source.scene.thread(it.event.thread)))
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'a> {
    /// Whether it came to the candidate's last event as scheduled.
    pub(crate) followed: bool,
    pub(crate) consequence: &'a Consequence,
}

/// Whether a run did a candidate.
pub(crate) fn is_done(source: &Source, candidate: &Candidate, run: &Source, end: End<'_>) -> bool {
    doing(source, candidate, run).is_done(end)
}

/// Whether the accesses of a candidate, as far as a run did them, are to the same variables.
pub(crate) fn is_plausible(source: &Source, candidate: &Candidate, run: &Source) -> bool {
    !doing(source, candidate, run).is_scattered()
}

/// What a run did of a candidate.
fn doing<'a>(source: &'a Source, candidate: &'a Candidate, run: &Source) -> Doing<'a> {
    let now = |step: &Step| {
        let name = source.scene.thread(step.event.thread);
        let did = &run.scene.trace;
        let thread = did.threads().iter().find(|it| it.name == name)?.id;
        let here = place(&source.scene.trace, source.trace.event(step.event)?.site);
        let sites = (0..u32::try_from(did.sites().len()).ok()?).map(SiteId);
        let site = sites.into_iter().find(|it| place(did, *it) == here)?;
        again((&source.trace, step.event), (&run.trace, thread, site))
            // Only the schedule sees to it that events are adjacent, and it counts them.
            .filter(|it| !candidate.adjacent || it.at.1 == step.event.index)
    };
    let now: Vec<_> = candidate.steps.iter().map(now).collect();
    Doing { recorded: &source.trace, candidate, now }
}

/// What a run did of a candidate.
#[derive(Debug)]
struct Doing<'a> {
    /// The trace that it was predicted from.
    recorded: &'a Trace,
    candidate: &'a Candidate,
    /// Its accesses, as far as they are in the run.
    now: Vec<Option<Done>>,
}

/// An access that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    at: Moment,
    /// Its address.
    addr: u64,
}

/// When an event was: a number in the order of turns, and how far its thread was.
type Moment = (u64, u64);

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
        // The access that ended the run is in no trace.
        let ended = match (consequence, self.candidate.steps.last().map(|it| it.access)) {
            (Consequence::Memory(MemoryFault::UseAfterDestroy), Some(last)) => last == Access::Use,
            (Consequence::Memory(_), Some(last)) => last != Access::Use,
            _ => false,
        };
        done == steps
            || followed && done + 1 == steps && (early || ended)
            || failed && self.has_changed_places(done)
    }

    /// Whether the first accesses came in their order.
    fn is_ordered(&self, done: usize) -> bool {
        self.now[..done].is_sorted_by(|a, b| a.map(|it| it.at) < b.map(|it| it.at))
    }

    /// Whether of the first accesses all to one variable have moved equally far: which one it is may
    /// differ. If the others are not there, nobody knows how far they would have.
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

    /// Whether two accesses to one variable have moved, but not equally far.
    fn is_scattered(&self) -> bool {
        let steps = &self.candidate.steps;
        let moved = |at: usize| Some((steps[at].addr, self.moved(at)?));
        let moved: Vec<_> = (0..steps.len()).filter_map(moved).collect();
        moved.iter().any(|one| moved.iter().any(|it| it.0 == one.0 && it.1 != one.1))
    }

    /// How far an access has moved with regard to the recorded run.
    fn moved(&self, at: usize) -> Option<u64> {
        let before = self.recorded.event(self.candidate.steps[at].event)?;
        Some(self.now[at]?.addr.wrapping_sub(address(before.op)?))
    }

    /// Whether two accesses that conflict were done the other way round than recorded. What a read
    /// came before need not have been.
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

/// An event of one trace in another one: with the same index, or else at the same visit of its
/// thread to its place.
fn again(
    (before, old): (&Trace, EventId),
    (after, thread, site): (&Trace, ThreadId, SiteId),
) -> Option<Done> {
    let is_there = |it: &&Event| it.site == site;
    let same = after.event(EventId { thread, ..old }).filter(is_there);
    let visit = || {
        let place = before.event(old)?.site;
        let earlier = before.thread(old.thread)?.events.iter().filter(|it| it.id.index < old.index);
        let visits = earlier.filter(|it| it.site == place).count();
        after.thread(thread)?.events.iter().filter(is_there).nth(visits)
    };
    let event = same.or_else(visit)?;
    Some(Done { at: moment(after, event.id)?, addr: address(event.op)? })
}

/// When an event was. One without a number is right behind the last that has one.
fn moment(trace: &Trace, id: EventId) -> Option<Moment> {
    let thread = trace.thread(id.thread)?;
    let upto = thread.events.partition_point(|it| it.id.index <= id.index);
    let number = thread.events[..upto].iter().rev().find_map(|it| it.seq);
    Some((number.unwrap_or(thread.after), id.index))
}

fn address(op: Op) -> Option<u64> {
    match op {
        Op::Read { addr, .. }
        | Op::Write { addr, .. }
        | Op::Atomic { addr, .. }
        | Op::Free { addr }
        | Op::Init { object: addr, .. }
        | Op::Destroy { object: addr, .. }
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

    /// The event at a place, for the first time.
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

    /// Whether a run did the accesses at these places.
    fn is_done(class: BugClass, places: &str, run: &str, end: End<'_>) -> bool {
        with(class, places, run, |doing| doing.is_done(end))
    }

    /// Asks what a run did of the accesses at these places.
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
            again((&recorded, step.event), (&run, thread, site))
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
