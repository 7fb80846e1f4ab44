//! Checks a suggested lock by the exact engine: it must make the failing order impossible, and no new deadlock
//! possible.
//!
//! The exact engine decides about orders of events, and a deadlock is a state. But a state in which threads are right
//! before some of their events is the end of an order: the events before those are executed, and those are not. So
//! that order is what the engine is asked for, once for each thread that may arrive last.

use norn_model::{Apart, BugClass, Candidate, CandidateKind, EventId, Step, Trace};
use norn_predict::{Options, predict};
use norn_witness::{Engines, Failure, Witnesses};

use super::rewrite::Rewritten;

/// Why a lock is not suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// The failing order is still possible, or that was not decided.
    NotExcluded,
    /// Threads could wait for each other, or that was not decided.
    Deadlock,
}

/// Maximum number of cycles that are examined. With more, the lock is not suggested.
const MOST_CYCLES: usize = 256;
/// Number of cycles with the same places that are examined.
const INSTANCES: usize = 16;
/// Maximum number of threads of a cycle: each order in which they may arrive is a question.
const MOST_THREADS: usize = 4;

/// Whether the reduced run allows the candidate.
pub(super) fn is_possible(run: &Rewritten) -> bool {
    Witnesses::with(&run.trace, Engines::Exact).witness(&run.candidate).is_ok()
}

/// Checks a lock. Returns the number of cycles of waiting threads that the added operations are part of, all of
/// which are impossible.
pub(super) fn check(run: &Rewritten) -> Result<usize, Objection> {
    let witnesses = Witnesses::with(&run.trace, Engines::Exact);
    let answer = witnesses.witness(&run.candidate);
    if !matches!(answer, Err(Failure::Impossible(_))) {
        return Err(Objection::NotExcluded);
    }
    let options = Options { instances: INSTANCES, patterns: Vec::new(), ..Options::default() };
    let prediction = predict(&run.trace, &options.only(&[BugClass::Deadlock]));
    let is_new = |it: &&Candidate| {
        it.steps.iter().chain(&it.stuck).any(|step| run.added.contains(&step.event))
    };
    let cycles: Vec<_> = prediction.candidates.iter().filter(is_new).collect();
    let undecided = prediction.limits.requests > 0 || cycles.len() > MOST_CYCLES;
    let impossible = |it: &&Candidate| is_unreachable(&witnesses, &run.trace, it);
    if undecided || !cycles.iter().all(impossible) {
        return Err(Objection::Deadlock);
    }
    Ok(cycles.len())
}

/// Whether the engine proves that the threads of a deadlock are never at its events at the same time.
fn is_unreachable(witnesses: &Witnesses<'_>, trace: &Trace, deadlock: &Candidate) -> bool {
    let stuck = &deadlock.stuck;
    if stuck.is_empty() || stuck.len() > MOST_THREADS {
        return false;
    }
    // The last event that each thread executes.
    let before = |it: &Step| {
        let index = it.event.index.checked_sub(1)?;
        let event = trace.event(EventId { index, ..it.event })?;
        Some(Step { event: event.id, site: event.site, region: (index, index), ..*it })
    };
    let Some(arrivals) = stuck.iter().map(before).collect::<Option<Vec<_>>>() else { return false };
    orders(stuck.len()).iter().all(|order| {
        let steps: Vec<_> = order.iter().map(|at| arrivals[*at]).collect();
        let Some(last) = steps.last().map(|it| it.event) else { return false };
        let waits = order.iter().map(|at| stuck[*at].event).filter(|it| it.thread != last.thread);
        let waits = waits.map(|event| Apart { event, after: None, before: last });
        let state = Candidate {
            kind: CandidateKind::LockCycle,
            adjacent: false,
            steps,
            stuck: Vec::new(),
            ..deadlock.clone()
        };
        let answer = witnesses.witness_apart(&state, &waits.collect::<Vec<_>>());
        matches!(answer, Err(Failure::Impossible(_)))
    })
}

/// All orders of the first numbers.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |order: Vec<usize>| {
        (0..count).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(insert).collect()
}
