//! The exact engine: decides whether a candidate is feasible, and proves it either way.
//!
//! After Huang, Luo and Rosu (*Generic predictive concurrency analysis*, 2015): the rules that an
//! order of all events has to obey are constraints over which event comes before which, and a
//! solver finds an order or proves that there is none. A read needs a write of its value before it
//! and no write of another value in between; which write it reads from is free, and so is which
//! signal ends which wait.
//!
//! Where we differ: constraints are generated lazily. A solver that knows only program order and
//! what follows from it ([`reach`]) proposes an order close to the recorded one; [`walk`] walks
//! through it and adds only the constraints that it breaks, until none is broken or no order is
//! left. A constraint applies only to events before the candidate's last one.
//!
//! A query first covers a small window around the candidate, with all events before it as recorded:
//! a solution there is a solution of the whole. That there is none proves nothing, since what would
//! have to change may be before the window. Only a query over the whole trace can prove that a
//! candidate is infeasible. Where the trace is too long for that, or the effort is spent, the
//! answer is that nothing was decided.

mod apart;
mod arrow;
mod build;
mod cell;
mod count;
mod edge;
mod learn;
mod lock;
mod model;
mod once;
mod order;
mod query;
mod reach;
mod smt;
mod solver;
mod unordered;
mod value;
mod wait;
mod walk;
mod watch;

use std::sync::{
    OnceLock, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use norn_model::{Cancel, Candidate, EventId, Trace};
use rustc_hash::FxHashSet;

use self::{
    apart::Apart,
    build::Builder,
    model::{Model, Node},
    query::{Query, QueryOutcome},
    solver::Effort,
};
use crate::{
    Engine, Infeasible, Turn,
    engine::{Draft, Proposals},
};

/// Limits of the exact engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of solver steps for one candidate. Steps and not time, so that the result
    /// does not depend on the machine.
    pub steps: u64,
    /// Maximum number of events in a window.
    pub events: u32,
    /// Whether a read has to see the same write as in the recorded run, and not any write of the
    /// same value.
    pub fixed: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 2_000_000, events: 250_000, fixed: false }
    }
}

/// The windows that are tried first: events before and after the candidate's, and solver steps.
const NEAR: [(u32, u32, u64); 3] = [(150, 60, 20_000), (600, 150, 50_000), (2_400, 600, 100_000)];
/// A window that would be longer than this, because the candidate's events are far apart, is
/// skipped.
const TOO_FAR: u32 = 4_000;

/// Solver steps for all candidates of all traces of a hunt. At some millions of steps per second this is
/// a few seconds, however many candidates there are.
const HUNT_STEPS: u64 = 40_000_000;
/// Steps that each candidate has in any case: the smallest window, which decides most of them, takes
/// fewer.
const LEAST_STEPS: u64 = 20_000;
/// Number of candidates of a trace that are decided in any case, however many traces came before.
const LEAST_CANDIDATES: u64 = 128;
/// A window takes a step for this many of its events before the search begins.
pub(crate) const EVENTS_PER_STEP: u32 = 16;

/// No model is built of traces with more events than this: it would take too much memory.
const TOO_LONG: usize = 2_000_000;

/// The exact engine.
#[derive(Debug)]
pub struct Exact<'a> {
    trace: &'a Trace,
    limits: Limits,
    model: OnceLock<Model<'a>>,
    cancel: Cancel,
    /// The number of events between two cuts of the recorded order; 0 if there is none.
    segment: u32,
    /// Maximum number of solver steps for one candidate.
    allowance: AtomicU64,
    /// The candidates that can be decided; all if there are not too many.
    decidable: RwLock<Option<FxHashSet<Candidate>>>,
}

/// The range of a query, and its effort.
#[derive(Clone, Copy)]
struct Window {
    from: Node,
    to: Node,
    steps: u64,
    /// Whether there is no larger one.
    last: bool,
}

/// What an order must satisfy, besides the order of the candidate's events.
struct Wanted {
    adjacent: bool,
    /// Whether happens-before must not order the first event before the last one.
    unordered: bool,
    aparts: Vec<Apart>,
}

impl<'a> Exact<'a> {
    /// Builds no model yet: the first query does.
    pub fn new(trace: &'a Trace, limits: Limits) -> Self {
        Self::cancellable(trace, limits, &Cancel::default())
    }

    /// The same, and decides nothing any more after a request to end.
    pub fn cancellable(trace: &'a Trace, limits: Limits, cancel: &Cancel) -> Self {
        Self::with_cuts(trace, limits, 0, cancel)
    }

    /// The same, for schedules that begin with the recorded order up to a cut.
    pub(crate) fn with_cuts(
        trace: &'a Trace,
        limits: Limits,
        segment: usize,
        cancel: &Cancel,
    ) -> Self {
        let segment = u32::try_from(segment).unwrap_or(0);
        let allowance =
            AtomicU64::new(limits.steps.saturating_add(NEAR.iter().map(|it| it.2).sum()));
        let (model, decidable, cancel) = (OnceLock::new(), RwLock::default(), cancel.clone());
        Exact { trace, limits, model, cancel, segment, allowance, decidable }
    }

    /// Divides the steps of a hunt among groups of candidates of its trace with this number, counted
    /// from 0. Each trace has half as many as the one before, since most candidates are known by then.
    ///
    /// If there are too many, only the first ones can be decided. A long run has some ten thousand
    /// candidates, and the steps that each has in any case would take minutes.
    ///
    /// The share of a candidate does not depend on what the others have spent: then the answers would
    /// depend on the order of the questions, and with it on the number of parallel runs.
    pub(crate) fn expect<'c, Group: IntoIterator<Item = &'c Candidate>>(
        &self,
        groups: impl ExactSizeIterator<Item = Group>,
        trace: usize,
    ) {
        let (steps, count) = (HUNT_STEPS >> (trace + 1).min(63), groups.len());
        let share = steps / (count.max(1) as u64);
        let allowance = self.allowance.load(Relaxed).min(share.max(LEAST_STEPS));
        self.allowance.store(allowance, Relaxed);
        let most = usize::try_from((steps / LEAST_STEPS).max(LEAST_CANDIDATES)).unwrap_or(count);
        let decidable =
            (count > most).then(|| groups.take(most).flatten().cloned().collect::<FxHashSet<_>>());
        *self.decidable.write().unwrap_or_else(PoisonError::into_inner) = decidable;
    }

    /// Whether a candidate is among those that can be decided.
    pub(crate) fn is_decidable(&self, candidate: &Candidate) -> bool {
        let decidable = self.decidable.read().unwrap_or_else(PoisonError::into_inner);
        decidable.as_ref().is_none_or(|it| it.contains(candidate))
    }

    fn model(&self) -> &Model<'a> {
        self.model.get_or_init(|| Builder::build(self.trace, self.limits.fixed, &self.cancel))
    }

    fn windows(&self, steps: &[Node]) -> Vec<Window> {
        let len = self.model().len();
        let first = steps.iter().min().copied().unwrap_or(0);
        let end = steps.iter().max().map_or(0, |it| it + 1);
        let around = |(before, after): (u32, u32), steps, last| Window {
            from: first.saturating_sub(before),
            to: end.saturating_add(after).min(len),
            steps,
            last,
        };
        let near = NEAR.iter().map(|it| around((it.0, it.1), it.2, false));
        let mut windows: Vec<_> =
            near.filter(|it| it.to - it.from <= TOO_FAR && (it.from > 0 || it.to < len)).collect();
        let most = self.limits.events;
        let far = most.saturating_sub(end - first);
        windows.push(if len <= most {
            Window { from: 0, to: len, steps: self.limits.steps, last: true }
        } else {
            around((far / 4 * 3, far / 4), self.limits.steps, true)
        });
        windows
    }

    /// The answer for a window within some effort; none if a larger window may decide more.
    fn ask(
        &self,
        steps: &[Node],
        wanted: &Wanted,
        (window, effort): (Window, &Effort),
        last_cut: usize,
    ) -> Option<Result<Draft, Infeasible>> {
        let model = self.model();
        let range = (window.from, window.to);
        let query = Query::new(model, range, steps, wanted.adjacent, effort.clone());
        let query = query.map(|it| it.without(&wanted.aparts).unordered(wanted.unordered));
        match query.map(Query::answer) {
            Some(QueryOutcome::Order(order)) => Some(Ok(self.draft(window.from, &order, last_cut))),
            // What holds in every order holds in every window.
            None if !model.damaged => Some(Err(Infeasible::NoOrder)),
            Some(QueryOutcome::No) if range == (0, model.len()) && !model.damaged => {
                Some(Err(Infeasible::NoOrder))
            }
            None | Some(QueryOutcome::No | QueryOutcome::Spent) => {
                window.last.then_some(Err(Infeasible::Undecided))
            }
        }
    }

    /// The query over the whole trace in SMT-LIB, with the clauses that were needed to answer it,
    /// and whether there is an order. For comparisons with other solvers.
    #[doc(hidden)]
    pub fn smt(&self, candidate: &Candidate) -> Option<(String, bool)> {
        let model = self.model();
        let nodes = candidate.steps.iter().map(|it| model.node(it.event));
        let steps: Vec<_> = nodes.collect::<Option<_>>()?;
        let effort = Effort::new(self.limits.steps, &self.cancel);
        steps.first()?;
        let query = Query::new(model, (0, model.len()), &steps, candidate.adjacent, effort)?;
        let (outcome, transcript) = query.transcribe();
        match outcome {
            QueryOutcome::Order(_) => Some((transcript.smt(model), true)),
            QueryOutcome::No => Some((transcript.smt(model), false)),
            QueryOutcome::Spent => None,
        }
    }

    /// The events before the window as recorded, from the last cut on, followed by this order.
    fn draft(&self, from: Node, order: &[Node], last_cut: usize) -> Draft {
        let cut = from.checked_div(self.segment).map_or(0, |it| (it as usize).min(last_cut));
        let begin = u32::try_from(cut).unwrap_or(0) * self.segment;
        let mut turns: Vec<Turn> = Vec::new();
        for node in (begin..from).chain(order.iter().copied()) {
            let EventId { thread, index } = self.model().id(node);
            match turns.last_mut() {
                Some(turn) if turn.thread == thread => turn.until = index + 1,
                _ => turns.push(Turn { thread, until: index + 1 }),
            }
        }
        Draft { cut, turns }
    }
}

impl Engine for Exact<'_> {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn schedules(&self, candidate: &Candidate) -> Proposals<'_> {
        Box::new(self.drafts(candidate, &[], 0).map(|it| it.map(|it| it.turns)))
    }
}

/// Drafts, computed lazily.
type Drafts<'a> = Box<dyn Iterator<Item = Result<Draft, Infeasible>> + 'a>;

impl Exact<'_> {
    /// Schedules that begin with the recorded order up to a cut, not later than the last one, with some
    /// events kept out of intervals.
    pub(crate) fn drafts(
        &self,
        candidate: &Candidate,
        aparts: &[norn_model::Apart],
        last_cut: usize,
    ) -> Drafts<'_> {
        // That a thread stays stuck is a statement about all continuations, not about one order.
        // And a wait that times out instead is one of the values that this engine preserves.
        let another = !candidate.stuck.is_empty() || candidate.expires().is_some();
        if self.trace.len() > TOO_LONG || another {
            return Box::new(std::iter::once(Err(Infeasible::Undecided)));
        }
        let node = |it: EventId| self.model().node(it).ok_or(Infeasible::NoEvent(it));
        let steps = candidate.steps.iter().map(|it| node(it.event));
        let steps: Vec<_> = match steps.collect::<Result<_, _>>() {
            Ok(steps) => steps,
            Err(missing) => return Box::new(std::iter::once(Err(missing))),
        };
        if steps.is_empty() {
            return Box::new(std::iter::empty());
        }
        let apart = |it: &norn_model::Apart| {
            let after = it.after.map(node).transpose().ok()?;
            Some(Apart { event: node(it.event).ok()?, after, before: node(it.before).ok()? })
        };
        let aparts: Vec<_> = aparts.iter().filter_map(apart).collect();
        let (adjacent, unordered) = (candidate.adjacent, candidate.is_unordered_race());
        let wanted = Wanted { adjacent, unordered, aparts };
        let mut left = self.allowance.load(Relaxed);
        let mut decided = false;
        Box::new(self.windows(&steps).into_iter().filter_map(move |window| {
            let effort = Effort::new(window.steps.min(left), &self.cancel);
            let answer = if decided {
                None
            } else if left <= u64::from((window.to - window.from) / EVENTS_PER_STEP) {
                window.last.then_some(Err(Infeasible::Undecided))
            } else {
                self.ask(&steps, &wanted, (window, &effort), last_cut)
            };
            left -= window.steps.min(left) - effort.left();
            decided |= matches!(answer, Some(Err(_)));
            answer
        }))
    }
}
