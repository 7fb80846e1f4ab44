//! The checker: simulates a schedule and looks for the candidate at its end.

use std::collections::BTreeMap;

use norn_model::{Access, Apart, BugClass, Cancel, Candidate, EventId, Step, ThreadId, Trace};
use rustc_hash::FxHashMap;

use crate::{
    Deviation, Grade, Refusal, Rule, Turn, events, fact::TraceFacts, happens_before,
    state::ProgramState, stuck_check,
};

/// Number of events of a turn between two looks at the request to end.
const INTERVAL: u64 = 4096;

/// Checks schedules of one trace.
#[derive(Debug)]
pub struct Checker<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) facts: TraceFacts,
    pub(crate) cancel: Cancel,
}

impl<'a> Checker<'a> {
    /// Collects what the rules need to know of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::cancellable(trace, &Cancel::default())
    }

    /// The same, and accepts nothing any more after a request to end.
    pub fn cancellable(trace: &'a Trace, cancel: &Cancel) -> Self {
        Checker { trace, facts: TraceFacts::new(trace, cancel), cancel: cancel.clone() }
    }

    /// Checks that the schedule is possible and ends with the candidate, and grades it.
    pub fn check(&self, candidate: &Candidate, turns: &[Turn]) -> Result<Grade, Refusal> {
        self.deviation(candidate, turns).map(Deviation::grade)
    }

    /// Checks the schedule and measures how far it deviates from the recorded run.
    pub fn deviation(&self, candidate: &Candidate, turns: &[Turn]) -> Result<Deviation, Refusal> {
        let mut state = ProgramState::new(self);
        for turn in turns {
            self.run(&mut state, *turn)?;
        }
        if !candidate.stuck.is_empty() {
            stuck_check::check_stuck(&state, candidate)?;
            // After its last event in the schedule, a thread still has to reach the event that it
            // is stuck at. So every difference can influence the result.
            return Ok(Deviation { differences: state.differing.len(), idle: false });
        }
        check_pattern(candidate, turns)?;
        if candidate.is_unordered_race() {
            self.check_unordered(candidate, turns)?;
        }
        let idle = depends_on_reads(candidate) && state.differing.is_empty();
        Ok(Deviation { differences: state.influential_differences(), idle })
    }

    /// Whether one event of a schedule happens before another, by the C++ memory model.
    pub fn is_before(&self, turns: &[Turn], one: EventId, other: EventId) -> bool {
        happens_before::is_before((self.trace, &self.facts), events(turns), one, other)
    }

    /// Checks that happens-before orders no two events of different threads of a candidate.
    fn check_unordered(&self, candidate: &Candidate, turns: &[Turn]) -> Result<(), Refusal> {
        for (at, one) in candidate.steps.iter().enumerate() {
            let others = candidate.steps[at + 1..].iter().map(|it| it.event);
            for other in others.filter(|it| it.thread != one.event.thread) {
                if self.is_before(turns, one.event, other) {
                    return Err(Refusal { event: other, rule: Rule::Ordered });
                }
            }
        }
        Ok(())
    }

    fn run(&self, state: &mut ProgramState<'_>, turn: Turn) -> Result<(), Refusal> {
        let thread = self.trace.thread(turn.thread);
        let from = state.position(turn.thread);
        for index in from..turn.until {
            let id = EventId { thread: turn.thread, index };
            if (index - from).is_multiple_of(INTERVAL) && self.cancel.is_cancelled() {
                return Err(Refusal { event: id, rule: Rule::Cancelled });
            }
            let at = usize::try_from(index).unwrap_or(usize::MAX);
            let event = thread.and_then(|it| it.events.get(at));
            let event = event.ok_or(Refusal { event: id, rule: Rule::Missing })?;
            state.step(event).map_err(|rule| Refusal { event: id, rule })?;
        }
        Ok(())
    }
}

/// Checks that no event is in an interval that it has to stay out of.
pub fn check_apart(aparts: &[Apart], turns: &[Turn]) -> Result<(), Refusal> {
    if aparts.is_empty() {
        return Ok(());
    }
    let times: FxHashMap<EventId, usize> = events(turns).zip(0..).collect();
    let interferes = |it: &&Apart| {
        let time = |id: EventId| times.get(&id).copied();
        let after_begin = it.after.is_none_or(|after| time(after) < time(it.event));
        time(it.event).is_some_and(|event| after_begin && Some(event) < time(it.before))
    };
    let found = aparts.iter().find(interferes);
    found.map_or(Ok(()), |it| Err(Refusal { event: it.event, rule: Rule::Interferes }))
}

/// Whether a candidate is harmful by what it reads: a read comes after an event of another thread,
/// or, in an order violation, before the write that it saw. A data race, and other events that have
/// to be adjacent, are harmful whatever they read.
fn depends_on_reads(candidate: &Candidate) -> bool {
    let steps = &candidate.steps;
    let foreign = |it: &Step, before: &[Step]| {
        before.iter().any(|other| other.event.thread != it.event.thread)
    };
    let reads = |at: usize| {
        let early = at == 0 && candidate.class() == BugClass::Order;
        steps[at].access == Access::Read && (early || foreign(&steps[at], &steps[..at]))
    };
    let by_itself = candidate.adjacent || candidate.is_unordered_race();
    !by_itself && (0..steps.len()).any(reads)
}

/// Checks that the candidate's events are in their order, and that the last one ends the schedule.
fn check_pattern(candidate: &Candidate, turns: &[Turn]) -> Result<(), Refusal> {
    let wanted: Vec<_> = candidate.steps.iter().map(|it| it.event).collect();
    let mut ends = BTreeMap::new();
    let mut times = vec![None; wanted.len()];
    let mut time = 0;
    for turn in turns {
        let from = ends.insert(turn.thread, turn.until).unwrap_or(0);
        for (place, it) in times.iter_mut().zip(&wanted) {
            if it.thread == turn.thread && (from..turn.until).contains(&it.index) {
                *place = Some(time + it.index - from);
            }
        }
        time += turn.until.saturating_sub(from);
    }
    let ordered = times.is_sorted_by(|a, b| a.is_some() && a < b);
    let follows = |it: &[Option<u64>]| it[0].map(|it| it + 1) == it[1];
    let adjacent = !candidate.adjacent || times.windows(2).all(follows);
    let at_end = times.last().copied().flatten().is_some_and(|it| it + 1 == time);
    if ordered && adjacent && at_end {
        return Ok(());
    }
    let event = wanted.last().copied().unwrap_or(EventId { thread: ThreadId(0), index: 0 });
    Err(Refusal { event, rule: Rule::Pattern })
}
