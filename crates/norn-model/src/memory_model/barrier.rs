//! The threads that meet at a barrier.

use rustc_hash::FxHashMap;

use super::{Clock, Clocks};
use crate::BarrierEffect;

/// The barriers of a run.
#[derive(Debug, Default)]
pub struct Barriers(FxHashMap<u64, Barrier>);

impl Barriers {
    /// What a thread does to a barrier orders it after the threads that it met there. `at` is the
    /// thread, counted from 0, and the index of the event in it.
    pub fn step(
        &mut self,
        clocks: &mut Clocks,
        (thread, index): (usize, u32),
        effect: BarrierEffect,
    ) {
        let (BarrierEffect::Arrive { barrier }
        | BarrierEffect::Leave { barrier }
        | BarrierEffect::Init { barrier, .. }) = effect;
        let barrier = self.0.entry(barrier).or_default();
        match effect {
            BarrierEffect::Arrive { .. } => barrier.enter(thread, &clocks.after(thread, index)),
            BarrierEffect::Leave { .. } => {
                if let Some(all) = barrier.leave(thread) {
                    clocks.learn(thread, index, all);
                }
            }
            BarrierEffect::Init { size, .. } => barrier.init(size),
        }
    }
}

/// The rounds of a barrier: as many threads as it holds back, or, if that is not known, all threads
/// that arrive before the first one leaves.
#[derive(Debug, Default)]
struct Barrier {
    size: Option<usize>,
    arrivals: usize,
    rounds: Vec<Clock>,
    /// By thread: the round that it is in.
    entered: FxHashMap<usize, usize>,
    /// Whether the last round still takes threads.
    open: bool,
}

impl Barrier {
    /// The barrier is initialised to hold back this many threads. Threads of an earlier round may still
    /// have to leave.
    fn init(&mut self, size: u64) {
        self.size = usize::try_from(size).ok().filter(|it| *it > 0);
        self.arrivals = 0;
        self.open = false;
    }

    /// A thread arrives.
    fn enter(&mut self, thread: usize, now: &Clock) {
        let full = self.size.map(|size| self.arrivals.is_multiple_of(size));
        if full.unwrap_or(!self.open) {
            self.rounds.push(Clock::default());
            self.open = true;
        }
        self.arrivals += 1;
        let round = self.rounds.len() - 1;
        self.rounds[round].join(now);
        self.entered.insert(thread, round);
    }

    /// A thread leaves; returns what all threads of its round know.
    fn leave(&mut self, thread: usize) -> Option<&Clock> {
        let round = self.entered.remove(&thread)?;
        self.open &= round + 1 != self.rounds.len();
        self.rounds.get(round)
    }
}
