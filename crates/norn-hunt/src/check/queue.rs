//! The orders of events of one trace that would violate properties and are left to try.

use std::{collections::VecDeque, rc::Rc};

use norn_model::ThreadId;
use norn_property::{PredictedViolation, PropertyAnalysis};
use norn_witness::Witness;

use crate::{State, engine::CachedWitnesses};

/// Prospects at the same places, and the attempts that are left for them.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) property: usize,
    pub(super) prospects: VecDeque<PredictedViolation>,
    /// Number of executions that may still be spent on it.
    pub(super) tries: usize,
    /// The index of their violation.
    pub(super) violation: usize,
}

/// What is left to try of one trace. Groups are shared with copies until one of them changes.
#[derive(Clone)]
pub(crate) struct Queue {
    groups: Vec<Rc<Group>>,
    open: VecDeque<usize>,
    /// Confirmed violations whose consequence is not yet known; they come first.
    follow_up: VecDeque<Attempt>,
    /// Why prospects have no schedule, by violation; the check has yet to record it.
    pub(super) refused: Vec<(usize, State)>,
}

/// Specifies a run for a group.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(super) group: usize,
    pub(super) witness: Witness,
    pub(super) aim: Aim,
}

/// The purpose of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// To violate the property.
    Break,
    /// To observe the consequence of a violation.
    Consequence,
}

impl Group {
    /// The next prospect with a schedule that violates the property.
    fn next(
        &mut self,
        watch: &PropertyAnalysis<'_>,
        witnesses: &CachedWitnesses<'_>,
        refused: &mut Vec<(usize, State)>,
    ) -> Option<Witness> {
        while self.tries > 0 {
            let prospect = self.prospects.pop_front()?;
            match witnesses.witness_apart(&prospect.candidate, watch.aparts(&prospect)) {
                Ok(witness) if watch.is_violated_by(&prospect, turns(&witness)) => {
                    self.tries -= 1;
                    return Some(witness);
                }
                Ok(_) => refused.push((self.violation, State::Spoiled)),
                Err(why) => refused.push((self.violation, State::Infeasible(why))),
            }
        }
        None
    }
}

impl Queue {
    pub(super) fn new(groups: Vec<Group>) -> Queue {
        let open = (0..groups.len()).collect();
        let groups = groups.into_iter().map(Rc::new).collect();
        Queue { groups, open, follow_up: VecDeque::new(), refused: Vec::new() }
    }

    pub(super) fn left(&self) -> usize {
        self.open.len() + self.follow_up.len()
    }

    /// The next run to make.
    pub(super) fn next(
        &mut self,
        watches: &[PropertyAnalysis<'_>],
        witnesses: &CachedWitnesses<'_>,
    ) -> Option<Attempt> {
        if let Some(attempt) = self.follow_up.pop_front() {
            return Some(attempt);
        }
        while let Some(number) = self.open.pop_front() {
            let group = Rc::make_mut(&mut self.groups[number]);
            let watch = &watches[group.property];
            if let Some(witness) = group.next(watch, witnesses, &mut self.refused) {
                return Some(Attempt { group: number, witness, aim: Aim::Break });
            }
        }
        None
    }

    pub(super) fn group(&self, attempt: &Attempt) -> &Rc<Group> {
        &self.groups[attempt.group]
    }

    /// Puts a group back, so that another of its prospects is tried after the other groups.
    pub(super) fn try_again(&mut self, attempt: &Attempt) {
        if attempt.aim == Aim::Break {
            self.open.push_back(attempt.group);
        }
    }

    /// Schedules another run that shows the consequence of a violation.
    pub(super) fn follow_up(&mut self, attempt: &Attempt, witness: Witness) {
        let attempt = Attempt { group: attempt.group, witness, aim: Aim::Consequence };
        self.follow_up.push_back(attempt);
    }

    pub(super) fn into_groups(self) -> impl Iterator<Item = Group> {
        self.groups.into_iter().map(Rc::unwrap_or_clone)
    }
}

/// The schedule of a witness: threads, each with the index of the event before which its turn ends.
pub(crate) fn turns(witness: &Witness) -> impl Iterator<Item = (ThreadId, u64)> {
    witness.turns.iter().map(|it| (it.thread, it.until))
}

/// Interleaves the properties, so that a property with many candidates does not delay the others.
pub(super) fn in_turn<V>(groups: Vec<(Group, V)>) -> Vec<(Group, V)> {
    let mut ranked: Vec<(usize, (Group, V))> = Vec::new();
    for group in groups {
        let rank = ranked.iter().filter(|it| it.1.0.property == group.0.property).count();
        ranked.push((rank, group));
    }
    ranked.sort_by_key(|(rank, group)| (*rank, group.0.property));
    ranked.into_iter().map(|(_, group)| group).collect()
}
