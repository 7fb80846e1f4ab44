//! Groups of candidates at the same places, which are one finding to a reader. Their instances are
//! tried one after another, in an order in which the bug classes take turns.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use norn_model::{AtomicOp, BugClass, Candidate, CandidateKind, Op, Step, Trace};
use norn_witness::{Failure, Grade, Witness};

use crate::{Finding, engine::CachedWitnesses};

/// Number of turns of the other classes before order violations have their first.
const LATE: usize = 3;

/// Candidates at the same places, and the attempts that are left for them.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) instances: VecDeque<Candidate>,
    /// Their kind.
    pub(crate) kind: CandidateKind,
    /// Schedules that change values; they are deferred while too many of these have failed.
    deferred: VecDeque<Witness>,
    /// A schedule that is unlikely to do harm; it is tried after the others.
    idle: Option<Witness>,
    /// Why one of them has no schedule.
    pub(crate) refused: Option<Failure>,
    /// The index of their finding.
    pub(crate) finding: usize,
    /// Whether it concerns a counter.
    counts: bool,
    /// Whether it was predicted before, from another trace.
    pub(crate) again: bool,
}

impl Group {
    pub(crate) fn new(trace: &Trace, candidate: Candidate, finding: usize, again: bool) -> Group {
        Group {
            counts: is_counting(trace, &candidate),
            kind: candidate.kind.clone(),
            instances: [candidate].into(),
            deferred: VecDeque::new(),
            idle: None,
            refused: None,
            finding,
            again,
        }
    }

    /// The next instance with a schedule: one that preserves all values, unless `may_speculate` is
    /// set. If only schedules are left that are unlikely to do harm, the first call returns `None`
    /// and the next one returns one of these.
    pub(crate) fn next(
        &mut self,
        witnesses: &CachedWitnesses<'_>,
        may_speculate: bool,
    ) -> Option<Witness> {
        let may_speculate = may_speculate && !self.again;
        if self.instances.is_empty() {
            return self.idle.take();
        }
        while let Some(candidate) = self.instances.pop_front() {
            let witness = match witnesses.witness(&candidate) {
                Ok(witness) if witness.idle => {
                    self.idle.get_or_insert(witness);
                    let Some(lively) = witnesses.lively(&candidate) else { continue };
                    lively
                }
                Ok(witness) => witness,
                Err(why) => {
                    self.refused.get_or_insert(why);
                    continue;
                }
            };
            if may_speculate || witness.grade == Grade::Sound {
                return Some(witness);
            }
            self.deferred.push_back(witness);
        }
        None
    }

    /// Keeps some instances for each call stack that leads to the places, given the stack of each. All
    /// stacks have a turn before one of them has a second.
    pub(crate) fn arrange<K: Ord>(&mut self, stacks: Vec<K>, most: usize) {
        let mut seen: BTreeMap<K, usize> = BTreeMap::new();
        let turn = |stack: K| {
            let count = seen.entry(stack).or_default();
            *count += 1;
            *count
        };
        let turns = stacks.into_iter().map(turn).collect::<Vec<_>>();
        let instances = std::mem::take(&mut self.instances);
        let mut turns: Vec<_> = turns.into_iter().zip(instances).collect();
        turns.retain(|it| it.0 <= most);
        turns.sort_by_key(|it| it.0);
        self.instances = turns.into_iter().map(|it| it.1).collect();
    }

    pub(crate) fn has_more(&self) -> bool {
        !self.instances.is_empty() || self.idle.is_some()
    }

    /// Whether anything is left untried, for whatever reason.
    pub(crate) fn has_any(&self) -> bool {
        self.has_more() || !self.deferred.is_empty()
    }

    /// Makes deferred schedules available again.
    pub(crate) fn resume_deferred(&mut self) {
        self.instances.extend(self.deferred.drain(..).map(|it| it.candidate));
    }
}

/// Whether another thread's atomic update falls between two atomic updates, and nothing else: most
/// counters allow that.
fn is_counting(trace: &Trace, candidate: &Candidate) -> bool {
    let changes = |step: &Step| {
        let op = trace.event(step.event).map(|it| it.op);
        matches!(op, Some(Op::Atomic { op: AtomicOp::Rmw { .. }, .. }))
    };
    let ends = candidate.steps.first().zip(candidate.steps.last());
    candidate.class() == BugClass::Atomicity && ends.is_some_and(|(a, b)| changes(a) && changes(b))
}

/// Interleaves the classes, so that a class with many candidates does not delay the others.
/// Deadlocks come first: there are few, and each of them is harmful. There are many order
/// violations, and few of them are harmful, so the other classes get some turns before them; the
/// same holds for waits that expire. Candidates that the program seems to expect come last.
pub(crate) fn in_turn(groups: Vec<Group>, findings: &[Arc<Finding>]) -> Vec<Group> {
    let mut counts: BTreeMap<BugClass, usize> = BTreeMap::new();
    let mut ranked: Vec<_> = groups
        .into_iter()
        .map(|group| {
            let finding = &findings[group.finding];
            let class = finding.candidate.class();
            let rank = counts.entry(class).or_default();
            *rank += 1;
            let many = class == BugClass::Order && finding.candidate.expires().is_none();
            let late = if many { LATE } else { 0 };
            let expected = group.counts || finding.remark.is_some_and(|it| it.expected.is_some());
            ((expected, *rank + late, class != BugClass::Deadlock, class), group)
        })
        .collect();
    ranked.sort_by_key(|(key, _)| *key);
    ranked.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use norn_model::text;
    use norn_predict::{Options, predict};
    use norn_witness::Engines;

    use super::*;

    /// The races that a trace allows, as one group.
    fn races(trace: &Trace, again: bool) -> Group {
        let all = predict(trace, &Options::default()).candidates;
        let mut races = all.into_iter().filter(|it| it.class() == BugClass::Race);
        let mut group = Group::new(trace, races.next().unwrap(), 0, again);
        group.instances.extend(races);
        group
    }

    /// A value that is handed over under a lock: this is a race only if the second thread ignores
    /// the value that it reads.
    const HANDED_OVER: &str = "
        T1 w data 1
        T1 acq l
        T1 w ready 1
        T1 rel l
        T2 acq l
        T2 r ready 1
        T2 rel l
        T2 r data 1
    ";

    #[test]
    fn a_schedule_that_changes_values_is_deferred_until_one_may_speculate() {
        let trace = text::parse(HANDED_OVER).unwrap();
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        let mut group = races(&trace, false);
        assert_eq!(group.next(&witnesses, false), None);
        assert!(!group.has_more());
        assert!(group.has_any());
        group.resume_deferred();
        assert_eq!(group.next(&witnesses, true).unwrap().grade, Grade::Speculative);
    }

    #[test]
    fn a_candidate_that_was_predicted_before_must_keep_all_values() {
        let trace = text::parse(HANDED_OVER).unwrap();
        assert_eq!(
            races(&trace, true).next(&CachedWitnesses::new(&trace, Engines::default()), true),
            None
        );
        let trace = text::parse("T1 w data 1\nT2 r data 1").unwrap();
        let found =
            races(&trace, true).next(&CachedWitnesses::new(&trace, Engines::default()), false);
        assert_eq!(found.unwrap().grade, Grade::Sound);
    }

    #[test]
    fn call_stacks_take_turns() {
        let trace = text::parse("T1 w data 1\nT2 r data 1").unwrap();
        let mut group = races(&trace, false);
        let instance = |it| Candidate { instance: it, ..group.instances[0].clone() };
        group.instances = (0..6).map(instance).collect();
        group.arrange(vec!["a", "a", "a", "b", "b", "c"], 2);
        let order: Vec<_> = group.instances.iter().map(|it| it.instance).collect();
        assert_eq!(order, [0, 3, 5, 1, 4]);
    }

    #[test]
    fn atomic_updates_of_a_counter_are_recognized() {
        let counts = |trace: &str| {
            let trace = text::parse(trace).unwrap();
            let all = predict(&trace, &Options::default()).candidates;
            let between = all.into_iter().find(|it| it.class() == BugClass::Atomicity).unwrap();
            is_counting(&trace, &between)
        };
        assert!(counts("T1 add n 0 1\nT1 add n 1 2\nT2 add n 2 3"));
        assert!(!counts("T1 r n 0\nT1 w n 1\nT2 w n 3"));
    }
}
