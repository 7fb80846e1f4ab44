//! How the runs of a campaign differ: strategies in turn, each run with a seed of its own.
//!
//! No strategy is best for all bugs. Random switches find what needs few constraints between
//! neighbouring events, PCT what needs them far apart, POS what depends on the order of conflicting
//! accesses. They take turns, so that each of them makes a third of the runs. The strategy follows from
//! the seed, so that a seed is the same run whichever worker and whichever campaign makes it.

use norn_frontend::Plan;
use norn_trace::Strategy;

/// The strategies, in the order of their turns.
const STRATEGIES: [Strategy; 3] = [Strategy::Random, Strategy::Pct, Strategy::Pos];
/// The bug depth that PCT assumes.
const DEPTH: u32 = 3;

/// How the threads of one run are scheduled. The same values give the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The strategy.
    pub strategy: Strategy,
    /// The seed of all random choices.
    pub seed: u64,
    /// For PCT: the bug depth.
    pub depth: u32,
    /// For PCT: the approximate number of events of the program.
    pub expected: u64,
}

impl Variation {
    /// The variation of the run with a seed.
    pub fn new(seed: u64, expected: u64) -> Variation {
        let turn = usize::try_from(seed % STRATEGIES.len() as u64).unwrap_or(0);
        Variation { strategy: STRATEGIES[turn], seed, depth: DEPTH, expected }
    }

    /// The plan of the run.
    pub(crate) fn plan(self, max_steps: u64) -> Plan {
        let Variation { strategy, seed, depth, expected } = self;
        Plan { strategy, seed, depth, expected, max_steps, ..Plan::default() }
    }
}
