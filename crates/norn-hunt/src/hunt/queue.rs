//! The groups of candidates of one trace that are left to try, in turn.

use std::{collections::VecDeque, rc::Rc};

use norn_witness::{Failure, Grade, Witness};

use crate::{engine::CachedWitnesses, group::Group};

/// Maximum number of schedules in a row that change values and confirm nothing; after that, no more
/// of them are tried.
const PATIENCE: usize = 8;

/// What is left to try of one trace. Groups are shared with copies until one of them changes.
#[derive(Clone, Default)]
pub(crate) struct Queue {
    groups: Vec<Rc<Group>>,
    /// The indices of the groups that are left to try.
    open: VecDeque<usize>,
    /// Number of schedules that change values and confirmed nothing, since the last one that did.
    pub(super) failed: usize,
    /// Whether these are deferred candidates. Nothing comes after them, so all schedules are tried.
    deferred: bool,
    /// Findings without a schedule, with the reason; the hunt has yet to record them.
    pub(super) refused: Vec<(usize, Failure)>,
}

/// A candidate of a group, with its schedule.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    group: usize,
    pub(super) finding: usize,
    pub(super) witness: Witness,
}

impl Queue {
    pub(super) fn new(groups: Vec<Group>, failed: usize) -> Queue {
        let open = (0..groups.len()).collect();
        let groups = groups.into_iter().map(Rc::new).collect();
        Queue { groups, open, failed, ..Queue::default() }
    }

    /// The part of the queue to try at the end of the campaign: everything untried, unless its
    /// finding is already known to be harmful.
    pub(super) fn deferred(self, is_harmful: impl Fn(usize) -> bool) -> Queue {
        let groups = self.groups.into_iter().map(Rc::unwrap_or_clone);
        let left = groups.filter(|it| it.has_any() && !is_harmful(it.finding));
        let resumed = left.map(|mut it| {
            it.resume_deferred();
            it
        });
        Queue { deferred: true, ..Queue::new(resumed.collect(), self.failed) }
    }

    pub(super) fn left(&self) -> usize {
        self.open.len()
    }

    /// The next candidate that has a schedule.
    pub(super) fn next(&mut self, witnesses: &CachedWitnesses<'_>) -> Option<Attempt> {
        while let Some(number) = self.open.pop_front() {
            let may_speculate = self.deferred || self.failed < PATIENCE;
            let group = Rc::make_mut(&mut self.groups[number]);
            let next = group.next(witnesses, may_speculate);
            let finding = group.finding;
            self.refused.extend(group.refused.take().map(|why| (finding, why)));
            if let Some(witness) = next {
                return Some(Attempt { group: number, finding, witness });
            }
            if group.has_more() {
                self.open.push_back(number);
            }
        }
        None
    }

    /// Updates the queue with the result of an attempt. An instance without harm does not exclude
    /// harm in another one: other instances of the group are tried after all other groups have had
    /// their turn.
    pub(super) fn settle(&mut self, attempt: &Attempt, confirmed: bool, harmful: bool) {
        if attempt.witness.grade == Grade::Speculative {
            self.failed = if confirmed { 0 } else { self.failed + 1 };
        }
        if !harmful && self.groups[attempt.group].has_more() {
            self.open.push_back(attempt.group);
        }
    }
}
