//! How a campaign shares out its executions: attempts in rounds, one round for each trace, and
//! exploration in between.
//!
//! This is plain data. The driver follows it, and looks ahead by copying it: what comes next is a
//! function of what has been, never of time or of how many runs go on at once.

/// Explored runs in a row.
const BATCH: usize = 4;
/// Attempts between two batches of exploration. A bug that needs many switches, or work that the
/// recorded run left to one thread, is rarely the first thing that is predicted.
const ATTEMPTS_BETWEEN: usize = 8;
/// Executions for the candidates of one trace before other traces have their turn.
const ROUND: usize = 24;

/// What a campaign may spend, and what it has spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agenda {
    /// Executions at most.
    budget: usize,
    /// Explored runs at most.
    explore: usize,
    executions: usize,
    explored: usize,
    /// Attempts since the last batch of exploration.
    attempts: usize,
    /// Explored runs that are left in this batch.
    batch: usize,
    /// The execution with which this round ends.
    round_end: usize,
}

impl Agenda {
    /// After some executions for the recorded run.
    pub(crate) fn new(budget: usize, explore: usize, executions: usize) -> Agenda {
        Agenda { budget, explore, executions, explored: 0, attempts: 0, batch: 0, round_end: 0 }
    }

    /// Executions so far.
    pub(crate) fn executions(&self) -> usize {
        self.executions
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.executions >= self.budget
    }

    /// Begins with another trace. Deferred candidates come last, so that nothing waits for them.
    pub(crate) fn begin_round(&mut self, deferred: bool) {
        self.round_end = if deferred { usize::MAX } else { self.executions + ROUND };
    }

    /// Whether this round may make another attempt. Some executions are reserved for exploration.
    pub(crate) fn may_attempt(&self) -> bool {
        let reserved = self.explore.min(self.budget / 2).saturating_sub(self.explored);
        self.executions + reserved < self.budget && self.executions < self.round_end
    }

    /// Whether there have been enough attempts since the last batch of exploration.
    pub(crate) fn is_exploration_due(&self) -> bool {
        self.attempts >= ATTEMPTS_BETWEEN
    }

    /// Whether there is anything left to explore.
    pub(crate) fn may_explore(&self) -> bool {
        self.explored < self.explore
    }

    pub(crate) fn begin_batch(&mut self) {
        let left = self.budget.saturating_sub(self.executions);
        self.batch = BATCH.min(left).min(self.explore.saturating_sub(self.explored));
        self.attempts = 0;
    }

    /// The number of the run to explore next, within a batch.
    pub(crate) fn exploration(&self) -> Option<usize> {
        (self.batch > 0).then_some(self.explored)
    }

    /// Counts an explored run.
    pub(crate) fn count_exploration(&mut self) {
        self.batch = self.batch.saturating_sub(1);
        self.explored += 1;
        self.executions += 1;
    }

    /// Counts an attempt.
    pub(crate) fn count_attempt(&mut self) {
        self.attempts += 1;
        self.executions += 1;
    }
}
