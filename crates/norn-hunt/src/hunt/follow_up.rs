//! What is tried after attempts that the program performed without harm: the same schedule with the other
//! continuation, and two of them in one schedule.
//!
//! Programs that repair or tolerate one anomaly fail if there are two: each of the copies of a value loses an
//! update, or both checks of a condition are passed by. The events of both candidates are then one
//! candidate, for which the engines make a schedule as for any other.

use std::collections::{BTreeSet, VecDeque};

use norn_model::{BugClass, Candidate, ThreadId};

use super::queue::Attempt;
use crate::{
    continuation::{Continuation, has_opposite},
    engine::CachedWitnesses,
};

/// Maximum number of pairs for one trace.
const MOST_PAIRS: usize = 8;
/// How many of them are tried at once. Only candidates of the same kind are: they are probably the same
/// mistake in two places.
const MOST_EARLY: usize = 2;

/// Maximum number of perturbations for one trace, and how many of them are tried at once. Those are of
/// candidates with which the program fails, by the condition of the failure.
const MOST_PERTURBED: usize = 8;
const MOST_EARLY_PERTURBED: usize = 2;

/// The attempts that follow others.
#[derive(Clone, Debug, Default)]
pub(super) struct FollowUps {
    /// These are tried before anything else.
    early: VecDeque<Attempt>,
    /// These are tried after all groups.
    late: VecDeque<Attempt>,
    /// Candidates that were performed without harm.
    harmless: Vec<Candidate>,
    /// Numbers of pairs so far.
    pairs: usize,
    early_pairs: usize,
    /// The findings whose schedules were perturbed.
    perturbed: BTreeSet<usize>,
    early_perturbed: usize,
}

impl FollowUps {
    pub(super) fn len(&self) -> usize {
        self.early.len() + self.late.len()
    }

    pub(super) fn has_early(&self) -> bool {
        !self.early.is_empty()
    }

    pub(super) fn next_early(&mut self) -> Option<Attempt> {
        self.early.pop_front()
    }

    pub(super) fn next_late(&mut self) -> Option<Attempt> {
        self.late.pop_front()
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        self.early.retain(|it| is_kept(it.finding));
        self.late.retain(|it| is_kept(it.finding));
    }

    /// Adds a perturbation, at most one for each finding.
    pub(super) fn add_perturbed(&mut self, attempt: Attempt, fails: bool) {
        let is_full = self.perturbed.len() == MOST_PERTURBED;
        if is_full || !self.perturbed.insert(attempt.finding) {
            return;
        }
        if fails && self.early_perturbed < MOST_EARLY_PERTURBED {
            self.early_perturbed += 1;
            self.early.push_back(attempt);
        } else {
            self.late.push_back(attempt);
        }
    }

    /// Adds what follows an attempt that was confirmed without harm. `instances` are other candidates at
    /// the same places.
    pub(super) fn add<'a>(
        &mut self,
        witnesses: &CachedWitnesses<'_>,
        attempt: &Attempt,
        instances: impl Iterator<Item = &'a Candidate>,
    ) {
        let candidate = &attempt.witness.candidate;
        let partners: Vec<_> = instances.cloned().chain(self.harmless.iter().cloned()).collect();
        for partner in &partners {
            if self.pairs == MOST_PAIRS {
                break;
            }
            let Some(pair) = combine(candidate, partner) else { continue };
            let Ok(witness) = witnesses.witness(&pair) else { continue };
            let pair = attempt.again(witness, Continuation::default());
            self.pairs += 1;
            if partner.kind == candidate.kind && self.early_pairs < MOST_EARLY {
                self.early_pairs += 1;
                self.early.push_back(pair);
            } else {
                self.late.push_back(pair);
            }
        }
        self.harmless.push(candidate.clone());
        let known = self.late.iter().any(|it| it.finding == attempt.finding);
        if !known && has_opposite(witnesses.trace, &attempt.witness) {
            let opposite = attempt.again(attempt.witness.clone(), Continuation::Opposite);
            self.late.push_back(opposite);
        }
    }
}

/// One candidate with the events of two, if they are of the same two threads, on different variables, and
/// the events of one come first in both threads.
fn combine(one: &Candidate, other: &Candidate) -> Option<Candidate> {
    let is_plain = |it: &Candidate| {
        matches!(it.class(), BugClass::Atomicity | BugClass::Order)
            && it.stuck.is_empty()
            && it.expires().is_none()
    };
    let shares_variable =
        || one.steps.iter().any(|it| other.steps.iter().any(|a| a.addr == it.addr));
    let threads = threads(one);
    let same = threads.len() == 2 && threads == self::threads(other);
    if !is_plain(one) || !is_plain(other) || !same || shares_variable() {
        return None;
    }
    let precedes = |first: &Candidate, second: &Candidate| {
        threads.iter().all(|thread| {
            let of = |it: &Candidate| {
                let steps = it.steps.iter().filter(|it| it.event.thread == *thread);
                steps.map(|it| it.event.index).collect::<Vec<_>>()
            };
            of(first).iter().max() < of(second).iter().min()
        })
    };
    let (first, second) = match () {
        () if precedes(one, other) => (one, other),
        () if precedes(other, one) => (other, one),
        () => return None,
    };
    let steps = first.steps.iter().chain(&second.steps).copied().collect();
    Some(Candidate { steps, adjacent: false, ..one.clone() })
}

/// The threads of a candidate, in order.
fn threads(candidate: &Candidate) -> Vec<ThreadId> {
    let mut threads: Vec<_> = candidate.steps.iter().map(|it| it.event.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

#[cfg(test)]
mod tests {
    use norn_model::{Trace, text};
    use norn_predict::{Options, predict};
    use norn_witness::Engines;

    use super::*;

    /// Two counters, each read and written by two threads.
    const COUNTERS: &str = "
        T1 load a 0 @ a1
        T1 store a 1 @ a2
        T1 load b 0 @ b1
        T1 store b 1 @ b2
        T2 load a 1 @ a1
        T2 store a 2 @ a2
        T2 load b 1 @ b1
        T2 store b 2 @ b2
    ";

    /// The lost updates of a trace: T1 reads, T2 writes, T1 writes.
    fn lost_updates(trace: &Trace) -> Vec<Candidate> {
        let all = predict(trace, &Options::default()).candidates.into_iter();
        let first = trace.threads[0].id;
        let is_lost = |it: &Candidate| {
            it.class() == BugClass::Atomicity
                && it.kind.to_string().contains("read-write-write")
                && it.steps[0].event.thread == first
        };
        all.filter(is_lost).collect()
    }

    #[test]
    fn two_lost_updates_are_combined_in_one_schedule() {
        let trace = text::parse(COUNTERS).unwrap();
        let lost = lost_updates(&trace);
        assert_eq!(lost.len(), 2, "{lost:?}");
        let pair = combine(&lost[1], &lost[0]).unwrap();
        assert_eq!(pair.steps.len(), 6);
        assert!(pair.steps[0].event.index < pair.steps[3].event.index);
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        assert!(witnesses.witness(&pair).is_ok());
        assert_eq!(combine(&lost[0], &lost[0]), None);
    }

    #[test]
    fn candidates_of_the_same_kind_are_combined_at_once() {
        let trace = text::parse(COUNTERS).unwrap();
        let lost = lost_updates(&trace);
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        let attempt =
            |at: usize| Attempt::new(at, at, witnesses.witness(&lost[at]).unwrap(), false);
        let mut follow_ups = FollowUps::default();
        follow_ups.add(&witnesses, &attempt(0), [].iter());
        assert!(follow_ups.next_early().is_none());
        follow_ups.add(&witnesses, &attempt(1), [].iter());
        assert_eq!(follow_ups.next_early().unwrap().witness.candidate.steps.len(), 6);
        let late = follow_ups.next_late().unwrap();
        assert_eq!((late.finding, late.continuation), (0, Continuation::Opposite));
        follow_ups.retain(|it| it != 1);
        assert_eq!(follow_ups.len(), 0);
    }
}
