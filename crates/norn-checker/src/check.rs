//! The checker: simulates a schedule and looks for the candidate at its end.

use std::{
    collections::BTreeMap,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use norn_model::{Access, Apart, BugClass, Cancel, Candidate, EventId, Step, ThreadId, Trace};
use rustc_hash::FxHashMap;

use crate::{
    Deviation, Grade, Refusal, Rule, Turn,
    baseline::Baseline,
    fact::TraceFacts,
    future::Futures,
    happens_before,
    schedule::{events_from, join},
    state::ProgramState,
    stuck_check,
};

/// Number of events of a turn between two looks at the request to end.
const INTERVAL: u64 = 4096;

/// Checks schedules of one trace.
#[derive(Debug)]
pub struct Checker<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) facts: TraceFacts,
    pub(crate) cancel: Cancel,
    /// An order that schedules may begin with, and by cut the number of its turns before the cut.
    order: Vec<Turn>,
    cuts: Vec<usize>,
    baseline: OnceLock<Baseline>,
    futures: OnceLock<Futures>,
    simulated: AtomicU64,
}

impl<'a> Checker<'a> {
    /// Collects what the rules need to know of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::cancellable(trace, &Cancel::default())
    }

    /// The same, and accepts nothing any more after a request to end.
    pub fn cancellable(trace: &'a Trace, cancel: &Cancel) -> Self {
        Checker {
            trace,
            facts: TraceFacts::new(trace, cancel),
            cancel: cancel.clone(),
            order: Vec::new(),
            cuts: Vec::new(),
            baseline: OnceLock::new(),
            futures: OnceLock::new(),
            simulated: AtomicU64::new(0),
        }
    }

    /// Number of events that were simulated so far: a measure of effort that does not depend on the
    /// machine.
    pub fn simulated(&self) -> u64 {
        self.simulated.load(Ordering::Relaxed)
    }

    /// Lets schedules begin with an order that many have in common, up to one of its cuts. Each cut is
    /// given by the number of turns before it. The cuts are numbered from 1; 0 is the begin of the
    /// program.
    #[must_use]
    pub fn with_baseline(self, order: Vec<Turn>, mut cuts: Vec<usize>) -> Self {
        cuts.retain(|it| *it <= order.len());
        let baseline = OnceLock::new();
        Checker { order, cuts, baseline, ..self }
    }

    /// The last cut that a schedule can begin with: the order breaks no rule before.
    pub fn last_cut(&self) -> usize {
        self.baseline().len().saturating_sub(1)
    }

    /// The schedule that begins with the common order up to a cut and continues with some turns.
    pub fn schedule(&self, cut: usize, turns: &[Turn]) -> Vec<Turn> {
        join(&self.order[..self.turns_before(cut)], turns)
    }

    fn turns_before(&self, cut: usize) -> usize {
        cut.checked_sub(1).and_then(|it| self.cuts.get(it)).copied().unwrap_or(0)
    }

    fn baseline(&self) -> &Baseline {
        self.baseline.get_or_init(|| Baseline::new(self, &self.order, &self.cuts))
    }

    pub(crate) fn futures(&self) -> &Futures {
        self.futures.get_or_init(|| Futures::new(self.trace, &self.cancel))
    }

    /// Checks that the schedule is possible and ends with the candidate, and grades it.
    pub fn check(&self, candidate: &Candidate, turns: &[Turn]) -> Result<Grade, Refusal> {
        self.deviation(candidate, turns).map(Deviation::grade)
    }

    /// Checks the schedule and measures how far it deviates from the recorded run.
    pub fn deviation(&self, candidate: &Candidate, turns: &[Turn]) -> Result<Deviation, Refusal> {
        self.deviation_from(0, candidate, turns, None)
    }

    /// The same for a schedule that begins with the common order up to a cut. What it costs depends on
    /// the turns after the cut alone. A schedule that certainly deviates further than the best one known
    /// so far is refused as soon as that is clear.
    pub fn deviation_from(
        &self,
        cut: usize,
        candidate: &Candidate,
        turns: &[Turn],
        best: Option<Deviation>,
    ) -> Result<Deviation, Refusal> {
        let mut state = self.state(cut);
        let mut steps = candidate.steps.iter().chain(&candidate.stuck);
        if cut > 0 && steps.any(|it| state.has(it.event)) {
            // Where the candidate's events are in the common order is not kept.
            return self.deviation_from(0, candidate, &self.schedule(cut, turns), best);
        }
        let begin = (state.now.positions.clone(), state.now.time);
        // The last event of each thread may not count, and an event may differ in two ways.
        let uncounted = 2 * self.trace.threads.len();
        let most = best.map_or(usize::MAX, |it| it.differences.saturating_add(uncounted));
        for turn in turns {
            self.run(&mut state, *turn)?;
            if state.now.differing.len() > most {
                let event = EventId { thread: turn.thread, index: turn.until.saturating_sub(1) };
                return Err(Refusal { event, rule: Rule::Deviates });
            }
        }
        if !candidate.stuck.is_empty() {
            stuck_check::check_stuck(&state, candidate)?;
            // After its last event in the schedule, a thread still has to reach the event that it
            // is stuck at. So every difference can influence the result.
            return Ok(Deviation { differences: state.now.differing.len(), idle: false });
        }
        check_pattern(candidate, begin, turns)?;
        if candidate.is_unordered_race() {
            self.check_unordered(cut, candidate, turns)?;
        }
        let idle = depends_on_reads(candidate) && state.now.differing.is_empty();
        Ok(Deviation { differences: state.influential_differences(), idle })
    }

    /// The events of a schedule that see something else than in the recorded run, as far as the schedule
    /// is possible. It begins with the common order up to a cut.
    pub fn differing_from(&self, cut: usize, turns: &[Turn]) -> Vec<EventId> {
        let mut state = self.state(cut);
        let _ = turns.iter().try_for_each(|it| self.run(&mut state, *it));
        state.now.differing.iter().map(|it| it.0).collect()
    }

    /// Whether one event of a schedule happens before another, by the C++ memory model.
    pub fn is_before(&self, turns: &[Turn], one: EventId, other: EventId) -> bool {
        self.is_before_from(0, turns, one, other)
    }

    /// The same for events after a cut that the schedule begins with.
    fn is_before_from(&self, cut: usize, turns: &[Turn], one: EventId, other: EventId) -> bool {
        let begin = self.state(cut).now;
        let order = events_from(begin.positions.clone(), turns);
        happens_before::is_before((self.trace, &self.facts), &begin, order, one, other)
    }

    fn state(&self, cut: usize) -> ProgramState<'_> {
        if cut == 0 { ProgramState::new(self) } else { self.baseline().state(self, cut) }
    }

    /// Checks that happens-before orders no two events of different threads of a candidate.
    fn check_unordered(
        &self,
        cut: usize,
        candidate: &Candidate,
        turns: &[Turn],
    ) -> Result<(), Refusal> {
        for (at, one) in candidate.steps.iter().enumerate() {
            let others = candidate.steps[at + 1..].iter().map(|it| it.event);
            for other in others.filter(|it| it.thread != one.event.thread) {
                if self.is_before_from(cut, turns, one.event, other) {
                    return Err(Refusal { event: other, rule: Rule::Ordered });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn run(&self, state: &mut ProgramState<'_>, turn: Turn) -> Result<(), Refusal> {
        let thread = self.trace.thread(turn.thread);
        let from = state.position(turn.thread);
        self.simulated.fetch_add(turn.until.saturating_sub(from), Ordering::Relaxed);
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
    let wanted = aparts.iter().flat_map(|it| it.after.into_iter().chain([it.event, it.before]));
    let times = times((BTreeMap::new(), 0), turns, wanted).0;
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

/// The numbers of some events in a schedule, as far as it has them, and the number of all events. The
/// schedule begins at some positions of the threads, with this many events before.
fn times(
    (mut positions, mut time): (BTreeMap<ThreadId, u64>, u64),
    turns: &[Turn],
    wanted: impl Iterator<Item = EventId>,
) -> (FxHashMap<EventId, u64>, u64) {
    let mut indices: BTreeMap<ThreadId, Vec<u64>> = BTreeMap::new();
    for id in wanted {
        indices.entry(id.thread).or_default().push(id.index);
    }
    for indices in indices.values_mut() {
        indices.sort_unstable();
    }
    let mut times = FxHashMap::default();
    for turn in turns {
        let from = positions.insert(turn.thread, turn.until).unwrap_or(0);
        if let Some(indices) = indices.get(&turn.thread) {
            let inside = &indices[indices.partition_point(|it| *it < from)..];
            for &index in inside.iter().take_while(|it| **it < turn.until) {
                times.insert(EventId { thread: turn.thread, index }, time + index - from);
            }
        }
        time += turn.until.saturating_sub(from);
    }
    (times, time)
}

/// Checks that the candidate's events are in their order, and that the last one ends the schedule.
fn check_pattern(
    candidate: &Candidate,
    begin: (BTreeMap<ThreadId, u64>, u64),
    turns: &[Turn],
) -> Result<(), Refusal> {
    let mut wanted = candidate.steps.iter().map(|it| it.event);
    let (found, end) = times(begin, turns, wanted.clone());
    let times: Vec<_> = wanted.clone().map(|it| found.get(&it).copied()).collect();
    let ordered = times.is_sorted_by(|a, b| a.is_some() && a < b);
    let follows = |it: &[Option<u64>]| it[0].map(|it| it + 1) == it[1];
    let adjacent = !candidate.adjacent || times.windows(2).all(follows);
    let at_end = times.last().copied().flatten().is_some_and(|it| it + 1 == end);
    if ordered && adjacent && at_end {
        return Ok(());
    }
    let event = wanted.next_back().unwrap_or(EventId { thread: ThreadId(0), index: 0 });
    Err(Refusal { event, rule: Rule::Pattern })
}
