//! The groups of candidates of one trace that are left to try, in turn.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    rc::Rc,
    sync::Arc,
};

use norn_model::{Candidate, CandidateKind, EventId, ThreadId};
use norn_predict::ConditionResult;
use norn_witness::{Decider, Failure, Grade, Witness};

use super::follow_up::FollowUps;
use crate::{
    campaign::{Next, Urgency},
    continuation::Continuation,
    engine::CachedWitnesses,
    group::{Caution, Group, Turn},
    perturbation::Perturbation,
};

/// Maximum number of schedules in a row that change values and confirm nothing; after that, no more
/// of them are tried.
const PATIENCE: usize = 8;
/// Number of attempts in a row on one kind of candidate that confirm nothing; after that, candidates of
/// this kind wait until all others have been tried.
const MISSES: usize = 10;
/// Number of events that are checked without an attempt; then a run that explores may come first. A long
/// run can have thousands of candidates in a row without a schedule. This takes about a second.
const MOST_EFFORT: u64 = 2_000_000;

/// What attempts have shown so far about which candidates are worth trying.
#[derive(Clone, Debug, Default)]
pub(super) struct Experience {
    /// Number of schedules that change values and confirmed nothing, since the last one that did.
    failed: usize,
    /// For each kind, the number of attempts that confirmed nothing, since the last one that did.
    misses: BTreeMap<CandidateKind, usize>,
}

/// What is left to try of one trace. Groups are shared with copies until one of them changes.
#[derive(Clone, Default)]
pub(crate) struct Queue {
    groups: Vec<Rc<Group>>,
    /// The indices of the groups that are left to try.
    open: VecDeque<usize>,
    /// Groups that are tried when none of the others is left.
    waiting: VecDeque<usize>,
    /// What follows attempts that did no harm.
    follow_ups: FollowUps,
    pub(super) experience: Experience,
    /// Whether these are deferred candidates. Nothing comes after them, so all schedules are tried.
    deferred: bool,
    /// Reads that saw something else than in the trace, and after which their threads left the schedule.
    misleading: BTreeSet<EventId>,
    /// Findings without a schedule, with the reason; the hunt has yet to record them.
    pub(super) refused: Vec<(usize, Failure)>,
    /// The number of the trace, from 0.
    pub(super) trace: usize,
}

/// A candidate of a group, with its schedule.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Its group; none if it follows an attempt of a group.
    group: Option<usize>,
    pub(super) finding: usize,
    pub(super) witness: Witness,
    pub(super) continuation: Continuation,
    /// Whether it comes ahead of its usual turn.
    pub(super) is_ahead: bool,
    /// How threads are held instead, if the schedule cannot be followed.
    pub(super) perturbation: Option<Arc<Perturbation>>,
}

impl Attempt {
    pub(super) fn new(group: usize, finding: usize, witness: Witness, is_ahead: bool) -> Attempt {
        let continuation = Continuation::default();
        Attempt { group: Some(group), finding, witness, continuation, is_ahead, perturbation: None }
    }

    /// An attempt for the same finding that follows this one.
    pub(super) fn again(&self, witness: Witness, continuation: Continuation) -> Attempt {
        let finding = self.finding;
        Attempt { group: None, finding, witness, continuation, is_ahead: false, perturbation: None }
    }

    /// An attempt that holds threads at places.
    fn perturbed(finding: usize, witness: Witness, perturbation: Perturbation) -> Attempt {
        let continuation = Continuation::default();
        let perturbation = Some(Arc::new(perturbation));
        Attempt { group: None, finding, witness, continuation, is_ahead: false, perturbation }
    }
}

impl Queue {
    pub(super) fn new(groups: Vec<Group>, experience: Experience, trace: usize) -> Queue {
        let is_last = |it: &usize| groups[*it].turn == Turn::Last;
        let open = (0..groups.len()).filter(|it| !is_last(it)).collect();
        let groups = groups.into_iter().map(Rc::new).collect();
        Queue { groups, open, experience, trace, ..Queue::default() }
    }

    /// The part of the queue to try at the end of the campaign: everything untried, unless its
    /// finding is already known to be harmful.
    pub(super) fn deferred(self, is_harmful: impl Fn(usize) -> bool) -> Queue {
        let groups = self.groups.into_iter().map(Rc::unwrap_or_clone);
        let left = groups.filter(|it| it.has_any() && !is_harmful(it.finding));
        let resumed = left.map(|mut it| {
            it.resume_deferred();
            it.turn = it.turn.min(Turn::Usual);
            it
        });
        let mut follow_ups = self.follow_ups;
        follow_ups.retain(|it| !is_harmful(it));
        let queue = Queue::new(resumed.collect(), self.experience, self.trace);
        Queue { deferred: true, follow_ups, ..queue }
    }

    pub(super) fn left(&self) -> usize {
        self.open.len() + self.waiting.len() + self.follow_ups.len()
    }

    /// The next candidate that has a schedule.
    pub(super) fn next(&mut self, witnesses: &CachedWitnesses<'_>) -> Next<Attempt> {
        if let Some(attempt) = self.follow_ups.next_early() {
            return Next::Attempt(attempt);
        }
        let effort = witnesses.effort().saturating_add(MOST_EFFORT);
        while let Some(number) = self.next_group() {
            if witnesses.effort() >= effort {
                self.open.push_front(number);
                return Next::Paused;
            }
            let may_speculate = self.deferred || self.experience.failed < PATIENCE;
            let misleading = Some(&self.misleading).filter(|_| !self.deferred);
            let group = Rc::make_mut(&mut self.groups[number]);
            let next = group.next(witnesses, Caution { may_speculate, misleading, effort });
            let (finding, has_more) = (group.finding, group.has_more());
            let is_ahead = next.is_some() && group.promoted.take().is_some();
            let is_over = next.is_some() || !has_more;
            let refused = if is_over { group.refused.take() } else { None };
            if let Some((candidate, why)) = refused {
                self.refused.push((finding, why));
                if next.is_none() {
                    self.perturb_refused(witnesses, number, candidate);
                }
            }
            if let Some(witness) = next {
                return Next::Attempt(Attempt::new(number, finding, witness, is_ahead));
            }
            if has_more {
                self.open.push_back(number);
            }
        }
        // A group without a schedule may have added one.
        self.follow_ups.next_early().or_else(|| self.follow_ups.next_late()).into()
    }

    /// Queues a perturbation of a schedule that the program has left before the candidate happened.
    pub(super) fn perturb(&mut self, witnesses: &CachedWitnesses<'_>, attempt: &Attempt) {
        let Some(number) = attempt.group.filter(|it| self.may_perturb(*it)) else { return };
        if let Some(it) = Perturbation::of_schedule(witnesses.trace, &attempt.witness) {
            self.add_perturbed(number, attempt.witness.clone(), it);
        }
    }

    /// Queues a perturbation for a candidate of a group none of which has a schedule.
    fn perturb_refused(
        &mut self,
        witnesses: &CachedWitnesses<'_>,
        number: usize,
        candidate: Candidate,
    ) {
        if !self.may_perturb(number) {
            return;
        }
        if let Some(it) = Perturbation::of_recorded_order(witnesses.trace, &candidate) {
            let witness = Witness {
                candidate,
                turns: Vec::new(),
                grade: Grade::Speculative,
                engine: Decider::Hybrid,
                idle: false,
                differing: Vec::new(),
            };
            self.add_perturbed(number, witness, it);
        }
    }

    /// Whether a group can lead to a visible failure.
    fn may_perturb(&self, number: usize) -> bool {
        self.groups[number].can_fail()
    }

    fn add_perturbed(&mut self, number: usize, witness: Witness, how: Perturbation) {
        let group = &self.groups[number];
        let fails = group.danger.is_some_and(|it| it.result == ConditionResult::Fails);
        self.follow_ups.add_perturbed(Attempt::perturbed(group.finding, witness, how), fails);
    }

    /// Queues what follows an attempt that was confirmed and did no harm.
    pub(super) fn follow_up(&mut self, witnesses: &CachedWitnesses<'_>, attempt: &Attempt) {
        let Some(number) = attempt.group else { return };
        let instances = self.groups[number].instances.iter();
        self.follow_ups.add(witnesses, attempt, instances);
    }

    /// The next group. Kinds that have not been confirmed for long come last.
    fn next_group(&mut self) -> Option<usize> {
        while let Some(number) = self.open.pop_front() {
            let misses = self.experience.misses.get(&self.groups[number].kind);
            if misses.is_none_or(|it| *it < MISSES) {
                return Some(number);
            }
            self.waiting.push_back(number);
        }
        self.waiting.pop_front()
    }

    /// Updates the queue with the result of an attempt. An instance without harm does not exclude
    /// harm in another one: other instances of the group are tried after all other groups have had
    /// their turn.
    pub(super) fn settle(&mut self, attempt: &Attempt, confirmed: bool, harmful: bool) {
        let Experience { failed, misses } = &mut self.experience;
        let count = |it: &mut usize| *it = if confirmed { 0 } else { *it + 1 };
        if attempt.witness.grade == Grade::Speculative && attempt.perturbation.is_none() {
            count(failed);
        }
        if harmful {
            self.follow_ups.retain(|it| it != attempt.finding);
        }
        let Some(number) = attempt.group else { return };
        let group = &self.groups[number];
        count(misses.entry(group.kind.clone()).or_default());
        if !harmful && group.has_more() {
            self.open.push_back(number);
        }
    }

    /// A thread left the schedule of an attempt: the last thing that it saw differently is the reason.
    pub(super) fn note_departure(&mut self, attempt: &Attempt, thread: ThreadId) {
        let differing = attempt.witness.differing.iter().filter(|it| it.thread == thread);
        self.misleading.extend(differing.max_by_key(|it| it.index));
    }

    /// How what is tried next compares with runs that explore.
    pub(super) fn urgency(&self) -> Urgency {
        if self.follow_ups.has_early() {
            return Urgency::Usual;
        }
        self.open.front().map_or(Urgency::Low, |it| self.groups[*it].urgency())
    }

    /// Whether what is tried next is what the trace promises.
    pub(super) fn is_promising(&self) -> bool {
        let first = self.open.front().map(|it| &self.groups[*it]);
        self.follow_ups.has_early() || first.is_some_and(|it| it.turn < Turn::Usual)
    }

    /// Whether an attempt is on a group that can lead to a visible failure.
    pub(super) fn is_dangerous(&self, attempt: &Attempt) -> bool {
        attempt.group.is_some_and(|it| self.may_perturb(it))
    }

    /// The groups that are left to try.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.open.iter().chain(&self.waiting).map(|it| &*self.groups[*it])
    }

    /// Takes the groups of these findings out of the queue.
    pub(super) fn remove(&mut self, findings: &[usize]) {
        let is_kept = |it: &usize| !findings.contains(&self.groups[*it].finding);
        self.open.retain(is_kept);
        self.waiting.retain(is_kept);
        self.follow_ups.retain(|it| !findings.contains(&it));
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, Trace, text};
    use norn_predict::{Options, predict};
    use norn_witness::Engines;

    use super::*;

    /// A race of a write with a read, and one of a read with a write.
    const TRACE: &str = "
        T1 w a 1
        T2 r a 1
        T1 r b 0
        T2 w b 1
    ";

    /// The races that have schedules which preserve all values.
    fn races(trace: &Trace, witnesses: &CachedWitnesses<'_>) -> Vec<Candidate> {
        let all = predict(trace, &Options::default()).candidates.into_iter();
        let is_sound =
            |it: &Candidate| witnesses.witness(it).is_ok_and(|it| it.grade == Grade::Sound);
        all.filter(|it| it.class() == BugClass::Race && is_sound(it)).collect()
    }

    #[test]
    fn a_kind_that_is_not_confirmed_for_long_waits() {
        let trace = text::parse(TRACE).unwrap();
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        let races = races(&trace, &witnesses);
        let race = &races[0];
        let other = races.iter().find(|it| it.kind != race.kind).unwrap();
        let group =
            |candidate: &Candidate, finding| Group::new(&trace, candidate.clone(), finding, false);
        let mut groups: Vec<_> = (0..MISSES + 2).map(|it| group(race, it)).collect();
        groups.push(group(other, 99));
        let mut queue = Queue::new(groups, Experience::default(), 0);
        let mut order = Vec::new();
        while let Next::Attempt(attempt) = queue.next(&witnesses) {
            queue.settle(&attempt, false, false);
            order.push(attempt.finding);
        }
        let expected: Vec<_> = (0..MISSES).chain([99, MISSES, MISSES + 1]).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn what_is_removed_is_not_tried() {
        let trace = text::parse(TRACE).unwrap();
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        let races = races(&trace, &witnesses).into_iter().enumerate();
        let groups: Vec<_> = races.map(|(at, it)| Group::new(&trace, it, at, false)).collect();
        assert!(groups.len() > 1);
        let mut queue = Queue::new(groups, Experience::default(), 0);
        queue.remove(&[0]);
        assert!(queue.groups().all(|it| it.finding != 0));
        let next = queue.next(&witnesses);
        assert!(matches!(next, Next::Attempt(it) if it.finding != 0));
    }
}
