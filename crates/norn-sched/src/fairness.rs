//! Fairness: every task that may be chosen runs within a bounded number of events, whatever the
//! strategy prefers. A thread that waits for another one in a loop which spin detection does not
//! recognise, for example because it counts its rounds, would otherwise run forever.
//!
//! Only events are counted, no time: so the same seed gives the same run on every machine.

use crate::{Scheduler, TaskId, World, task::Task};

/// Number of events of all threads between two checks.
const INTERVAL: u64 = 10_000;
/// Number of consecutive checks in which a task could run, and had not run since the last one, after
/// which it is chosen.
const OVERLOOKED: u32 = 4;
/// Number of events of the turn that it gets.
const TURN: u64 = 1000;

/// When tasks were last checked.
#[derive(Debug)]
pub(crate) struct Fairness {
    /// Number of events of all threads then.
    checked: u64,
    /// Whether some task was overlooked.
    found: bool,
}

impl Fairness {
    pub(crate) const fn new() -> Self {
        Self { checked: 0, found: false }
    }
}

impl Scheduler {
    /// A task that the strategy has not chosen for long, and the number of events of its turn.
    pub(crate) fn choose_overlooked(&mut self, world: &dyn World) -> Option<(TaskId, u64)> {
        let now = self.run.counted;
        if now - self.fairness.checked >= INTERVAL {
            self.fairness.checked = now;
            self.fairness.found = self.count_overlooked(world);
        }
        if !self.fairness.found {
            return None;
        }
        let is_overlooked = |(_, it): &(TaskId, &Task)| it.overlooked >= OVERLOOKED;
        let overlooked = self.run.tasks.candidates().find(is_overlooked).map(|(id, _)| id);
        match overlooked {
            Some(task) => self.run.tasks[task].overlooked = 0,
            None => self.fairness.found = false,
        }
        overlooked.map(|it| (it, TURN))
    }

    /// Counts for each task in how many checks it was overlooked. Returns whether there is one that
    /// must run now.
    fn count_overlooked(&mut self, world: &dyn World) -> bool {
        let mut found = false;
        let mut next = self.run.tasks.first();
        while let Some(id) = next {
            let is_candidate = self.run.tasks.is_candidate(&self.run.tasks[id]);
            let task = &mut self.run.tasks[id];
            let steps = if task.alive { world.steps(id) } else { 0 };
            let overlooked = is_candidate && steps == task.checked;
            task.overlooked = if overlooked { task.overlooked + 1 } else { 0 };
            task.checked = steps;
            found |= task.overlooked >= OVERLOOKED;
            next = self.run.tasks.next(id);
        }
        found
    }
}
