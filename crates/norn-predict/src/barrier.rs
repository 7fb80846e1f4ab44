//! The rounds of a barrier.

use rustc_hash::FxHashMap;

use crate::clock::Clock;

/// The rounds of a barrier: all threads that arrive before the first one leaves.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    rounds: Vec<Clock>,
    /// By thread: its round.
    entered: FxHashMap<usize, usize>,
    /// Whether the last round still accepts threads.
    open: bool,
}

impl Barrier {
    /// A thread arrives.
    pub(crate) fn enter(&mut self, thread: usize, now: &Clock) {
        if !self.open {
            self.rounds.push(Clock::default());
            self.open = true;
        }
        let round = self.rounds.len() - 1;
        self.rounds[round].join(now);
        self.entered.insert(thread, round);
    }

    /// A thread leaves; returns the joined clock of its round.
    pub(crate) fn leave(&mut self, thread: usize) -> Option<&Clock> {
        let round = self.entered.remove(&thread)?;
        self.open &= round + 1 != self.rounds.len();
        self.rounds.get(round)
    }
}
