//! Groups of candidates at the same places, which are one finding to a reader. Their instances are
//! tried one after another, in an order in which the bug classes take turns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use norn_model::{AtomicOp, BugClass, Candidate, CandidateKind, EventId, Op, Step, Trace};
use norn_predict::ConditionResult;
use norn_witness::{Failure, Grade, Witness};

use crate::{campaign::Urgency, danger::DangerRank, dependence, engine::CachedWitnesses};

/// Number of further instances among which a schedule that preserves all values is searched.
const LOOK: usize = 3;

/// Candidates at the same places, and the attempts that are left for them.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) instances: VecDeque<Candidate>,
    /// Their kind.
    pub(crate) kind: CandidateKind,
    /// Schedules that change values; they are deferred while too many of these have failed.
    deferred: VecDeque<Witness>,
    /// A schedule that is unlikely to do harm, or to be followed; it is tried after the others.
    idle: Option<Witness>,
    /// One that has no schedule, and why.
    pub(crate) refused: Option<(Candidate, Failure)>,
    /// The index of their finding.
    pub(crate) finding: usize,
    /// Whether a thread uses a pointer that is not yet set.
    pub(crate) uses_unset_pointer: bool,
    /// Whether the program seems to expect it, because it concerns a counter or for another reason.
    pub(crate) expected: bool,
    /// Whether it was predicted before, from another trace.
    pub(crate) again: bool,
    /// How directly it can lead to a visible failure.
    pub(crate) danger: Option<DangerRank>,
    /// What its next schedule changes besides, as far as that was examined.
    pub(crate) changes: Changes,
    /// The groups of a trace are numbered as they are predicted.
    pub(crate) number: usize,
    /// Whether its first attempt comes ahead of its usual turn, until it was made.
    pub(crate) promoted: Option<Promoted>,
    pub(crate) turn: Turn,
}

/// A group comes ahead of its usual turn because it can lead to a visible failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promoted;

/// When a group is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    /// Before all others: it does harm for certain, and the program probably performs it.
    Certain,
    /// Next: earlier traces did not show what the trace says about it.
    Promising,
    Usual,
    /// When nothing else is left: the program would have to use channels or locks of its language in a way that
    /// only unsafe code can.
    Last,
}

/// What the schedule of a candidate changes besides what the candidate itself reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Changes {
    /// Nothing that matters: the program probably performs the candidate.
    Nothing,
    /// It was not examined.
    Unknown,
    /// Other events see something else as well, and their threads may go another way. Or there is no
    /// schedule that may be tried now.
    Others,
}

/// Which schedules may be tried now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caution<'a> {
    /// Whether schedules may be tried that change values.
    pub(crate) may_speculate: bool,
    /// The reads after which threads went another way in earlier attempts. `None` if schedules are tried
    /// even if the program will probably not follow them.
    pub(crate) misleading: Option<&'a BTreeSet<EventId>>,
    /// The [effort](CachedWitnesses::effort) at which the search for a schedule pauses.
    pub(crate) effort: u64,
}

impl Caution<'_> {
    fn doubts(self, trace: &Trace, witness: &Witness) -> bool {
        self.misleading.is_some_and(|it| dependence::is_doubtful(trace, witness, it))
    }
}

impl Group {
    pub(crate) fn new(trace: &Trace, candidate: Candidate, finding: usize, again: bool) -> Group {
        Group {
            uses_unset_pointer: dependence::uses_unset_pointer(trace, &candidate),
            expected: is_counting(trace, &candidate),
            kind: candidate.kind.clone(),
            instances: [candidate].into(),
            deferred: VecDeque::new(),
            idle: None,
            refused: None,
            finding,
            again,
            danger: None,
            changes: Changes::Unknown,
            number: 0,
            promoted: None,
            turn: Turn::Usual,
        }
    }

    /// The next instance with a schedule that may be tried. `None` if there is none, or if the search took
    /// too long; then it continues with the next call. If only schedules are left that are unlikely to do
    /// harm or to be followed, the first call returns `None` and the next one returns one of these.
    pub(crate) fn next(
        &mut self,
        witnesses: &CachedWitnesses<'_>,
        caution: Caution<'_>,
    ) -> Option<Witness> {
        let may_speculate = caution.may_speculate && !self.again;
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
                    self.refused.get_or_insert((candidate, why));
                    if witnesses.effort() >= caution.effort {
                        return None;
                    }
                    continue;
                }
            };
            if witness.grade == Grade::Sound {
                return Some(witness);
            }
            if may_speculate && !caution.doubts(witnesses.trace, &witness) {
                return Some(self.sounder(witness, witnesses));
            }
            if may_speculate && self.idle.is_none() {
                self.idle = Some(witness);
            } else {
                self.deferred.push_back(witness);
            }
        }
        None
    }

    /// The same schedule, or that of a later instance if it preserves all values: the program follows
    /// that, and the order of instances says nothing about harm.
    fn sounder(&mut self, witness: Witness, witnesses: &CachedWitnesses<'_>) -> Witness {
        let sound = |it: &Candidate| {
            let found = witnesses.witness(it).ok();
            found.filter(|it| it.grade == Grade::Sound && !it.idle)
        };
        let mut others = self.instances.iter().take(LOOK).enumerate();
        let Some((at, better)) = others.find_map(|(at, it)| Some((at, sound(it)?))) else {
            return witness;
        };
        self.instances[at] = witness.candidate;
        better
    }

    /// Examines what the schedule that would be tried next changes.
    pub(crate) fn examine(&mut self, witnesses: &CachedWitnesses<'_>) {
        let nothing = BTreeSet::new();
        let caution = Caution { may_speculate: true, misleading: Some(&nothing), effort: u64::MAX };
        let next = self.clone().next(witnesses, caution);
        let is_own = |it: &EventId, of: &Witness| of.candidate.steps.iter().any(|a| a.event == *it);
        let only_own = |it: &Witness| it.differing.iter().all(|event| is_own(event, it));
        self.changes =
            if next.as_ref().is_some_and(only_own) { Changes::Nothing } else { Changes::Others };
    }

    /// Whether it can lead to a visible failure, as far as that is known.
    pub(crate) fn can_fail(&self) -> bool {
        self.danger.is_some_and(|it| it.result != ConditionResult::Passes)
    }

    /// How what is tried next compares with runs that explore.
    pub(crate) fn urgency(&self) -> Urgency {
        let fails = self.danger.is_some_and(|it| it.result == ConditionResult::Fails);
        if self.expected || self.instances.is_empty() {
            Urgency::Low
        } else if self.turn == Turn::Certain || fails && self.changes == Changes::Nothing {
            Urgency::High
        } else {
            Urgency::Usual
        }
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
pub(crate) fn is_counting(trace: &Trace, candidate: &Candidate) -> bool {
    let changes = |step: &Step| {
        let op = trace.event(step.event).map(|it| it.op);
        matches!(op, Some(Op::Atomic { op: AtomicOp::Rmw { .. }, .. }))
    };
    let ends = candidate.steps.first().zip(candidate.steps.last());
    candidate.class() == BugClass::Atomicity && ends.is_some_and(|(a, b)| changes(a) && changes(b))
}

#[cfg(test)]
mod tests {
    use norn_model::text;
    use norn_predict::{Options, predict};
    use norn_witness::Engines;

    use super::*;

    fn caution(may_speculate: bool) -> Caution<'static> {
        Caution { may_speculate, misleading: None, effort: u64::MAX }
    }

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
        assert_eq!(group.next(&witnesses, caution(false)), None);
        assert!(!group.has_more());
        assert!(group.has_any());
        group.resume_deferred();
        assert_eq!(group.next(&witnesses, caution(true)).unwrap().grade, Grade::Speculative);
    }

    #[test]
    fn a_candidate_that_was_predicted_before_must_keep_all_values() {
        let trace = text::parse(HANDED_OVER).unwrap();
        assert_eq!(
            races(&trace, true)
                .next(&CachedWitnesses::new(&trace, Engines::default()), caution(true)),
            None
        );
        let trace = text::parse("T1 w data 1\nT2 r data 1").unwrap();
        let found = races(&trace, true)
            .next(&CachedWitnesses::new(&trace, Engines::default()), caution(false));
        assert_eq!(found.unwrap().grade, Grade::Sound);
    }

    #[test]
    fn a_schedule_may_change_more_than_the_candidate() {
        let urgency = |run: &str| {
            let trace = text::parse(run).unwrap();
            let witnesses = CachedWitnesses::new(&trace, Engines::default());
            let mut group = races(&trace, false);
            assert_eq!(group.urgency(), Urgency::Usual);
            group.danger = Some(DangerRank {
                result: ConditionResult::Fails,
                is_known_value: false,
                is_alone: true,
                distance: 1,
            });
            let before = group.instances.len();
            group.examine(&witnesses);
            assert_eq!(group.instances.len(), before);
            (group.changes, group.urgency())
        };
        assert_eq!(urgency("T1 w data 1\nT2 r data 1"), (Changes::Nothing, Urgency::High));
        // The race happens only if the second thread ignores what it reads in `ready`.
        assert_eq!(urgency(HANDED_OVER), (Changes::Others, Urgency::Usual));
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
