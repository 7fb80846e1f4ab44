//! How a campaign divides its executions: attempts in rounds, one round per trace, and exploration
//! in between.
//!
//! This is plain data. The driver follows it, and looks ahead by copying it: the next step depends
//! only on the steps before it, never on time or on the number of runs in parallel.

use super::Urgency;

/// Number of explored runs in one batch.
const BATCH: usize = 1;
/// Number of attempts between two batches of exploration: at first, and at most. Exploration must not
/// wait for all attempts: a bug that needs many switches, or work that one thread did alone in the
/// recorded run, is rarely among the first predictions. The number is doubled after a run that brought
/// nothing new, and halved after one that did.
const ATTEMPTS_BETWEEN: usize = 4;
const MOST_BETWEEN: usize = 8;
/// Maximum number of urgent explored runs between two attempts.
const MOST_IN_A_ROW: usize = 2;
/// Maximum number of executions for the candidates of one trace before other traces have their
/// turn.
const ROUND: usize = 24;

/// The budget of a campaign, and how much of it is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agenda {
    /// Maximum number of executions.
    budget: usize,
    /// Maximum number of explored runs.
    explore: usize,
    executions: usize,
    explored: usize,
    /// Attempts since the last batch of exploration.
    attempts: usize,
    /// Whether one of these attempts was not counted because it came ahead of its usual turn.
    spared: bool,
    /// Number of attempts before the next batch.
    between: usize,
    /// Explored runs that are left in this batch.
    batch: usize,
    /// Explored runs that continue from what the last runs reached for the first time, and how many of
    /// them there were since the last attempt.
    urgent: usize,
    in_a_row: usize,
    /// The number of the execution with which this round ends.
    round_end: usize,
}

impl Agenda {
    /// An agenda that counts the executions that were spent on the recorded run.
    pub(crate) fn new(budget: usize, explore: usize, executions: usize) -> Agenda {
        Agenda {
            budget,
            explore,
            executions,
            explored: 0,
            attempts: 0,
            spared: false,
            between: ATTEMPTS_BETWEEN,
            batch: 0,
            urgent: 0,
            // Of what the recorded run lets be explored at once, one run comes before the first attempt.
            in_a_row: MOST_IN_A_ROW - 1,
            round_end: 0,
        }
    }

    /// Number of executions so far.
    pub(crate) fn executions(&self) -> usize {
        self.executions
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.executions >= self.budget
    }

    /// Begins a round with another trace. Deferred candidates come last, so that nothing else waits
    /// for them: their round has no limit but the budget.
    pub(crate) fn begin_round(&mut self, deferred: bool) {
        self.round_end = if deferred { usize::MAX } else { self.executions + ROUND };
    }

    /// Whether this round may make another attempt. Some executions are reserved for exploration.
    pub(crate) fn may_attempt(&self) -> bool {
        let reserved = self.explore.min(self.budget / 2).saturating_sub(self.explored);
        self.executions + reserved < self.budget && self.executions < self.round_end
    }

    /// Whether there have been enough attempts since the last batch of exploration. Attempts that promise
    /// little take turns with it. Urgent runs wait only for attempts that are urgent, too.
    pub(crate) fn is_exploration_due(&self, attempt: Urgency) -> bool {
        let between = if attempt == Urgency::Low { 1 } else { self.between };
        self.attempts >= between || self.is_urgent() && attempt != Urgency::High
    }

    fn is_urgent(&self) -> bool {
        self.urgent > 0 && self.in_a_row < MOST_IN_A_ROW
    }

    /// Sets the number of explored runs that should not wait.
    pub(crate) fn set_urgent(&mut self, urgent: usize) {
        self.urgent = urgent;
    }

    /// Whether there is anything left to explore.
    pub(crate) fn may_explore(&self) -> bool {
        self.explored < self.explore
    }

    /// Begins a run that explores while the search for schedules takes long: even if all runs that are
    /// meant for exploration are spent, since the budget is there to be used.
    pub(crate) fn begin_interlude(&mut self) {
        self.batch = usize::from(self.explore > 0 && !self.is_spent());
    }

    pub(crate) fn begin_batch(&mut self) {
        let left = self.budget.saturating_sub(self.executions);
        self.batch = BATCH.min(left).min(self.explore.saturating_sub(self.explored));
        if !self.is_urgent() {
            self.attempts = 0;
            self.spared = false;
        }
    }

    /// The number of the run to explore next, within a batch.
    pub(crate) fn exploration(&self) -> Option<usize> {
        (self.batch > 0).then_some(self.explored)
    }

    /// Counts an explored run, as if it had brought nothing new.
    pub(crate) fn count_exploration(&mut self) {
        if self.is_urgent() {
            self.in_a_row += 1;
        } else {
            self.between = (self.between * 2).min(MOST_BETWEEN);
        }
        self.urgent = self.urgent.saturating_sub(1);
        self.batch = self.batch.saturating_sub(1);
        self.explored += 1;
        self.executions += 1;
    }

    /// The explored run that was counted last has brought something new. Urgent ones say nothing about
    /// the others.
    pub(crate) fn note_new(&mut self) {
        if self.in_a_row > 0 {
            return;
        }
        self.between = (self.between / 4).max(1);
    }

    /// Counts an attempt. One that came ahead of its usual turn does not bring the next batch of
    /// exploration closer, or the others would have to wait for both. That holds for one attempt in each
    /// batch, so that exploration always has its turn.
    pub(crate) fn count_attempt(&mut self, is_ahead: bool) {
        if is_ahead && !self.spared {
            self.spared = true;
        } else {
            self.attempts += 1;
        }
        self.in_a_row = 0;
        self.executions += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_urgent_does_not_wait_but_attempts_come_in_between() {
        let mut agenda = Agenda::new(100, 50, 1);
        agenda.set_urgent(3);
        assert!(agenda.is_exploration_due(Urgency::Usual));
        agenda.begin_batch();
        agenda.count_exploration();
        assert!(!agenda.is_exploration_due(Urgency::Usual));
        agenda.set_urgent(0);
        agenda.count_attempt(false);
        assert!(!agenda.is_exploration_due(Urgency::Usual));
        assert!(agenda.is_exploration_due(Urgency::Low));
        agenda.set_urgent(3);
        assert!(!agenda.is_exploration_due(Urgency::High));
        for left in [2, 1] {
            assert!(agenda.is_exploration_due(Urgency::Usual));
            agenda.begin_batch();
            agenda.count_exploration();
            assert_eq!(agenda.urgent, left);
        }
        assert!(!agenda.is_exploration_due(Urgency::Usual));
        agenda.count_attempt(false);
        assert!(agenda.is_exploration_due(Urgency::Usual));
        assert_eq!(agenda.between, ATTEMPTS_BETWEEN);
    }

    #[test]
    fn one_attempt_ahead_of_its_turn_does_not_count() {
        let due = |ahead: &[bool]| {
            let mut agenda = Agenda::new(100, 50, 1);
            for it in ahead {
                agenda.count_attempt(*it);
            }
            agenda.is_exploration_due(Urgency::Usual)
        };
        assert!(due(&[false; ATTEMPTS_BETWEEN]));
        assert!(!due(&[true, false, false, false]));
        assert!(due(&[true, false, false, false, false]));
        assert!(due(&[true; ATTEMPTS_BETWEEN + 1]));
    }
}
