//! How the runs of a campaign differ: strategies in turn, each run with a seed of its own.
//!
//! No strategy is best for all bugs. Random switches find what needs few constraints between
//! neighbouring events, PCT what needs them far apart, POS what depends on the order of conflicting
//! accesses. They take turns, so that each of them makes a third of the runs. The strategy follows from
//! the seed, so that a seed is the same run whichever worker and whichever campaign makes it.

use std::time::Duration;

use norn_frontend::{Collect, Delays, Plan};
use norn_trace::Strategy;
use serde::{Deserialize, Serialize};

use crate::Settings;

/// The strategies, in the order of their turns.
const STRATEGIES: [Strategy; 3] = [Strategy::Random, Strategy::Pct, Strategy::Pos];
/// The bug depth that PCT assumes.
const DEPTH: u32 = 3;

/// What makes the runs of a campaign differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vary {
    /// Controlled schedules: each run can be repeated exactly.
    #[default]
    Schedules,
    /// Random delays: the operating system schedules the threads, and the runtime collects patterns.
    Delays,
}

/// Among how many accesses to shared variables and synchronizing operations one is delayed, and the
/// longest delay in microseconds. No choice is best for all bugs, so they take turns. The first one
/// changes nothing.
const DELAYS: [(u64, u64); 6] = [(0, 0), (64, 200), (8, 50), (512, 2_000), (2, 20), (128, 1_000)];

/// How the threads of one run are scheduled. With schedules, the same values give the same run.
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
    /// Whether threads are delayed instead.
    pub vary: Vary,
}

impl Variation {
    /// The variation of the run with a seed.
    pub fn new(vary: Vary, seed: u64, expected: u64) -> Variation {
        let turn = usize::try_from(seed % STRATEGIES.len() as u64).unwrap_or(0);
        Variation { strategy: STRATEGIES[turn], seed, depth: DEPTH, expected, vary }
    }

    /// Its name in a store.
    pub fn name(self) -> String {
        match self.vary {
            Vary::Schedules => norn_replay::report::strategy(self.strategy),
            Vary::Delays => "delays".to_owned(),
        }
    }

    /// The plan of the run, if it is controlled.
    pub(crate) fn plan(self, max_steps: u64) -> Option<Plan> {
        let Variation { strategy, seed, depth, expected, vary } = self;
        let plan = Plan { strategy, seed, depth, expected, max_steps, ..Plan::default() };
        (vary == Vary::Schedules).then_some(plan)
    }

    /// What the runtime collects in a run that is not controlled.
    pub(crate) fn collect(self, settings: &Settings) -> Collect {
        let Settings { window, observe_all, .. } = *settings;
        let turn = usize::try_from(self.seed % DELAYS.len() as u64).unwrap_or(0);
        let (every, longest) = DELAYS[turn];
        let delays = Delays { seed: self.seed, every, longest: Duration::from_micros(longest) };
        Collect { window, observe_all, delays: (every > 0).then_some(delays) }
    }
}
