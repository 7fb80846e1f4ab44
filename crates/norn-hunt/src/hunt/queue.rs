//! What is left to try of one trace: groups of candidates, in turn.

use std::{collections::VecDeque, rc::Rc};

use norn_witness::{Failure, Grade, Witness};

use crate::{engine::CachedWitnesses, group::Group};

/// Schedules that change values and confirm nothing, one after another, before no more are tried.
const PATIENCE: usize = 8;

/// What is left to try of one trace. Groups are shared with copies until one of them changes.
#[derive(Clone, Default)]
pub(crate) struct Queue {
    groups: Vec<Rc<Group>>,
    /// The groups that are to be tried, by number.
    open: VecDeque<usize>,
    /// Schedules that change values and confirmed nothing, since one did.
    pub(super) failed: usize,
    /// Whether these are candidates that were deferred. Then nothing comes after them, and all
    /// schedules are tried.
    deferred: bool,
    /// Findings without a schedule, and why; to be noted.
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

    /// What of this is to be tried at the end: all that was not tried, unless it is known to be
    /// harmful.
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

    /// Takes in whether an attempt confirmed its candidate. What does no harm here may do some
    /// elsewhere: other instances come when all other groups have had their turn.
    pub(super) fn settle(&mut self, attempt: &Attempt, confirmed: bool, harmful: bool) {
        if attempt.witness.grade == Grade::Speculative {
            self.failed = if confirmed { 0 } else { self.failed + 1 };
        }
        if !harmful && self.groups[attempt.group].has_more() {
            self.open.push_back(attempt.group);
        }
    }
}
