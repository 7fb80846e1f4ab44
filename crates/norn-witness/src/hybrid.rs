//! The fast engine: schedules in linear time, by moving few events of the recorded run.
//!
//! After Huang and Zhang (*Persuasive prediction of concurrency access anomalies*, ISSTA 2011): the
//! schedule follows the recorded run, but each thread of the candidate stops before the outermost
//! lock that protects its first event, and with it everything that depends on it. Then these
//! threads run to their events one after another. Stopping at the lock and not at the event is what
//! keeps critical sections whole.
//!
//! Where we differ: patterns may have any length and any number of threads. If a thread needs
//! something to continue (a lock that another thread holds, a signal, the end of a thread), the
//! other threads are advanced on demand, as long as they do not pass an event of the candidate
//! before its time. The order in which threads reach their events matters if they use each other's
//! locks on the way, so several orders are proposed. Besides the schedule that stops at locks there
//! is one that stops at the events themselves, which preserves more of what other threads read; one
//! that contains only what is needed; and some that stop one or two critical sections earlier.

use std::sync::OnceLock;

use norn_model::{Cancel, Candidate, EventId, Step, Trace};

use crate::{
    Engine, Infeasible, Turn,
    checkpoint::{self, SkeletonState},
    deadlock_schedule::DeadlockPlan,
    engine::Proposals,
    recorded_order::Cut,
    simulator::Simulator,
    sync_skeleton::{EventPos, SyncSkeleton},
};

/// The fast engine.
#[derive(Debug)]
pub struct Hybrid<'a> {
    trace: &'a Trace,
    pub(crate) skeleton: SyncSkeleton,
    pub(crate) cancel: Cancel,
    /// The states at the cuts of the recorded order, computed when the first one is needed.
    states: OnceLock<Vec<SkeletonState>>,
}

impl<'a> Hybrid<'a> {
    /// Builds the synchronisation skeleton of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::cancellable(trace, &Cancel::default())
    }

    /// The same, and finds nothing any more after a request to end.
    pub fn cancellable(trace: &'a Trace, cancel: &Cancel) -> Self {
        Self::with_cuts(trace, 0, cancel)
    }

    /// The same, with a cut after each segment of this many events; 0 makes none.
    pub(crate) fn with_cuts(trace: &'a Trace, segment: usize, cancel: &Cancel) -> Self {
        let skeleton = SyncSkeleton::new(trace, segment, cancel);
        Hybrid { trace, skeleton, cancel: cancel.clone(), states: OnceLock::new() }
    }

    /// The points of the recorded order at which schedules may begin to differ from it. The first is
    /// its begin.
    pub(crate) fn cuts(&self) -> &[Cut] {
        &self.skeleton.order.cuts
    }

    /// The last cut that a schedule can begin at.
    pub(crate) fn last_cut(&self) -> usize {
        if self.cuts().len() > 1 { self.states().len() - 1 } else { 0 }
    }

    fn states(&self) -> &[SkeletonState] {
        self.states.get_or_init(|| checkpoint::states(&self.skeleton, &self.cancel))
    }

    /// The last cut at which schedules for a candidate may begin to differ from the recorded order.
    pub(crate) fn cut(&self, candidate: &Candidate) -> usize {
        let events = candidate.steps.iter().chain(&candidate.stuck);
        let events: Vec<_> = events.filter_map(|it| self.place(it.event).ok()).collect();
        self.skeleton.cut_before(&events).min(self.last_cut())
    }

    /// The recorded order between two cuts.
    pub(crate) fn segment(&self, from: &Cut, to: &Cut) -> Vec<Turn> {
        self.turns(&self.skeleton.order.runs[from.runs..to.runs])
    }

    /// The recorded order from a cut to an event.
    pub(crate) fn recorded(&self, cut: usize, last: EventId) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for run in &self.skeleton.order.runs[self.cuts()[cut].runs..] {
            let thread = self.trace.threads[run.0 as usize].id;
            let ends = thread == last.thread && u64::from(run.1) > last.index;
            let until = if ends { last.index + 1 } else { run.1.into() };
            match turns.last_mut() {
                Some(turn) if turn.thread == thread => turn.until = until,
                _ => turns.push(Turn { thread, until }),
            }
            if ends {
                break;
            }
        }
        turns
    }

    /// A run that begins at a cut.
    pub(crate) fn simulator<'s>(&'s self, cut: usize, steps: &'s [EventPos]) -> Simulator<'s> {
        let state = match cut {
            0 => SkeletonState::first(&self.skeleton),
            _ => self.states()[cut].clone(),
        };
        Simulator::new(&self.skeleton, (self.cuts()[cut].runs, state), steps, &self.cancel)
    }

    fn place(&self, id: EventId) -> Result<EventPos, Infeasible> {
        let thread = self.trace.threads.binary_search_by_key(&id.thread, |it| it.id).ok();
        let thread = thread.and_then(|it| u32::try_from(it).ok());
        let place = thread.zip(u32::try_from(id.index).ok());
        let exists = |it: &EventPos| it.1 < self.skeleton.threads[it.0 as usize].len;
        place.filter(exists).ok_or(Infeasible::NoEvent(id))
    }

    fn id(&self, at: EventPos) -> EventId {
        EventId { thread: self.trace.threads[at.0 as usize].id, index: at.1.into() }
    }

    /// One schedule: threads reach their first events in a given order.
    fn propose(&self, cut: usize, steps: &[EventPos], plan: &Plan) -> Result<Vec<Turn>, Conflict> {
        let mut simulator = self.simulator(cut, steps);
        self.run_prefix(&mut simulator, plan.prefix, steps);
        for thread in &plan.threads {
            let first = steps.iter().find(|it| it.0 == *thread).map_or(0, |it| it.1);
            simulator.approach(*thread, first)?;
        }
        for (at, step) in steps.iter().enumerate() {
            simulator.pass(*step)?;
            let next = steps[at + 1..].iter().find(|it| it.0 == step.0);
            if let Some(next) = next.filter(|_| plan.eager) {
                simulator.advance(next.0, next.1)?;
            }
            if plan.leaves && next.is_none() && at + 1 < steps.len() {
                simulator.advance(step.0, self.skeleton.left(*step))?;
            }
        }
        Ok(self.turns(&simulator.turns))
    }

    /// Follows the recorded run until the candidate's threads have stopped.
    pub(crate) fn run_prefix(
        &self,
        simulator: &mut Simulator<'_>,
        prefix: Prefix,
        steps: &[EventPos],
    ) {
        match prefix {
            Prefix::ToCommon => simulator.run(|at| self.skeleton.common(at, steps)),
            Prefix::ToLock => simulator.run(|at| self.skeleton.outermost(at)),
            Prefix::ToEarlier(sections) => simulator.run(|at| self.skeleton.earlier(at, sections)),
            Prefix::ToEvent => simulator.run(|at| at.1),
            Prefix::Nothing => {}
        }
    }

    pub(crate) fn turns(&self, turns: &[EventPos]) -> Vec<Turn> {
        let turn = |it: &EventPos| Turn {
            thread: self.trace.threads[it.0 as usize].id,
            until: it.1.into(),
        };
        turns.iter().map(turn).collect()
    }

    pub(crate) fn explain(&self, conflict: Conflict) -> Infeasible {
        match conflict {
            Conflict::TooLate(event, needed) => {
                Infeasible::TooLate { event: self.id(event), needed: self.id(needed) }
            }
            Conflict::Never(event) => Infeasible::Never(self.id(event)),
            Conflict::Cycle(event) => Infeasible::Cycle(self.id(event)),
            Conflict::Cancelled => Infeasible::Undecided,
        }
    }
}

/// Why a schedule fails: an event needs one that may only come later, one that never comes, or
/// itself; or the search was cancelled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Conflict {
    TooLate(EventPos, EventPos),
    Never(EventPos),
    Cycle(EventPos),
    Cancelled,
}

/// How far a schedule follows the recorded run.
#[derive(Clone, Copy)]
pub(crate) enum Prefix {
    /// Until a thread reaches the first lock around its first event that the other threads need,
    /// too: the thread has made as many of its decisions as it can when it stops.
    ToCommon,
    /// Until a thread reaches the outermost lock around its first event.
    ToLock,
    /// Until a thread reaches its first event, with the locks that it holds there. Other threads
    /// may need to see what it has written on the way.
    ToEvent,
    /// Until a thread reaches a critical section before that one, counted backwards: other threads
    /// may have to run without seeing what it writes there.
    ToEarlier(usize),
    /// Not at all, after the cut that it begins at: the schedule contains only what is needed.
    Nothing,
}

/// One attempt at a schedule.
struct Plan {
    prefix: Prefix,
    /// Whether a thread runs to its next event at once, and not only when that is due.
    eager: bool,
    /// Whether a thread releases all of its locks after its last event, as in Chang et al.
    /// (*Biped*, IEICE Transactions 2015), who move everything that a thread does up to there.
    leaves: bool,
    /// The threads that reach their first events before any event of the candidate happens, in this
    /// order.
    threads: Vec<u32>,
}

/// The attempts. If the events have to be adjacent, all threads reach theirs first: those of late
/// events early, as in the paper, or in the opposite order. If not, a thread may also run only when
/// its event is due. Each order is tried with each prefix of the recorded run.
fn plans(steps: &[EventPos], adjacent: bool) -> impl Iterator<Item = Plan> + use<> {
    let mut threads: Vec<u32> = Vec::new();
    for step in steps.iter().rev() {
        if !threads.contains(&step.0) {
            threads.push(step.0);
        }
    }
    let reversed: Vec<_> = threads.iter().rev().copied().collect();
    let first = steps.first().map(|it| it.0);
    let others = threads.iter().copied().filter(|it| Some(*it) != first).collect();
    let orders = if adjacent {
        vec![(false, false, threads), (false, false, reversed)]
    } else {
        let orders = [Vec::new(), others, threads];
        let each = |it: Vec<u32>| [(false, false, it.clone()), (true, false, it)];
        orders.into_iter().flat_map(each).chain([(false, true, Vec::new())]).collect()
    };
    let each = move |prefix: Prefix| {
        let one = matches!(prefix, Prefix::ToCommon | Prefix::ToEarlier(_));
        let due = [(false, false, Vec::new()), (false, true, Vec::new())];
        let orders = match (one, adjacent) {
            (true, true) => Vec::new(),
            (true, false) => due.to_vec(),
            (false, _) => orders.clone(),
        };
        let plan = move |(eager, leaves, threads)| Plan { prefix, eager, leaves, threads };
        orders.into_iter().map(plan)
    };
    let prefixes = [Prefix::ToCommon, Prefix::ToLock, Prefix::ToEvent, Prefix::Nothing];
    prefixes.into_iter().chain([1, 2].map(Prefix::ToEarlier)).flat_map(each)
}

impl Engine for Hybrid<'_> {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn schedules(&self, candidate: &Candidate) -> Proposals<'_> {
        self.schedules_from(0, candidate)
    }
}

impl Hybrid<'_> {
    /// Schedules that begin with the recorded order up to a cut: their turns after it.
    pub(crate) fn schedules_from(&self, cut: usize, candidate: &Candidate) -> Proposals<'_> {
        let places = |steps: &[Step]| -> Result<Vec<_>, _> {
            steps.iter().map(|it| self.place(it.event)).collect()
        };
        let (steps, stuck) = match (places(&candidate.steps), places(&candidate.stuck)) {
            (Ok(steps), Ok(stuck)) => (steps, stuck),
            (Err(missing), _) | (_, Err(missing)) => {
                return Box::new(std::iter::once(Err(missing)));
            }
        };
        if !stuck.is_empty() {
            return self.deadlock_schedules(cut, DeadlockPlan::new(candidate, &steps, &stuck));
        }
        let plans = plans(&steps, candidate.adjacent);
        Box::new(plans.map(move |plan| {
            self.propose(cut, &steps, &plan).map_err(|conflict| self.explain(conflict))
        }))
    }
}
