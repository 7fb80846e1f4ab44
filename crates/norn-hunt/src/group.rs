//! Candidates that are one to a person: tried one after another, in an order in which the classes
//! take turns.

use std::collections::{BTreeMap, VecDeque};

use norn_model::{Anomaly, Candidate};
use norn_witness::{Failure, Witness, Witnesses};

use crate::{Finding, Status};

/// Turns of the other classes before order violations have their first.
const LATE: usize = 3;

/// Candidates with the same places, and what is next for them.
pub(crate) struct Group {
    pub(crate) instances: VecDeque<Candidate>,
    /// A schedule that can hardly do harm, which is tried when the others have been.
    pub(crate) idle: Option<Witness>,
    pub(crate) finding: Finding,
}

impl Group {
    /// The next instance that has a schedule. If only such are left that can hardly do harm, nothing,
    /// and then one of these.
    pub(crate) fn next(&mut self, witnesses: &Witnesses<'_>) -> Option<Witness> {
        if self.instances.is_empty() {
            return self.idle.take();
        }
        while let Some(candidate) = self.instances.pop_front() {
            match witnesses.witness(&candidate) {
                Ok(witness) if witness.idle => {
                    self.idle.get_or_insert(witness);
                    if let Some(lively) = witnesses.lively(&candidate) {
                        return Some(lively);
                    }
                }
                Ok(witness) => return Some(witness),
                Err(why) => self.note(why),
            }
        }
        None
    }

    pub(crate) fn has_more(&self) -> bool {
        !self.instances.is_empty() || self.idle.is_some()
    }

    fn note(&mut self, why: Failure) {
        if matches!(self.finding.status, Status::Untried) {
            self.finding.status = Status::Infeasible(why);
        }
    }
}

/// The classes take turns, so that many candidates of one do not keep the others waiting. Deadlocks
/// come first: there are few, and each of them is harmful. Order violations are many, and few of
/// them do harm: the others are some turns ahead, and so are waits whose time runs out. Those that the
/// program seems to expect come after all.
pub(crate) fn in_turn(groups: Vec<Group>) -> Vec<Group> {
    let mut counts: BTreeMap<Anomaly, usize> = BTreeMap::new();
    let mut ranked: Vec<_> = groups
        .into_iter()
        .map(|group| {
            let class = group.finding.candidate.class;
            let rank = counts.entry(class).or_default();
            *rank += 1;
            let many = class == Anomaly::Order && group.finding.candidate.expires().is_none();
            let late = if many { LATE } else { 0 };
            let expected = group.finding.remark.is_some_and(|it| it.expected.is_some());
            ((expected, *rank + late, class != Anomaly::Deadlock, class), group)
        })
        .collect();
    ranked.sort_by_key(|(key, _)| *key);
    ranked.into_iter().map(|(_, group)| group).collect()
}
