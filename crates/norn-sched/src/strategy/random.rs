//! Random walk: a random thread, for a random number of events. The baseline that the papers on
//! probabilistic schedulers compare with (among them Burckhardt et al., ASPLOS 2010; Thomson,
//! Donaldson, Betts, "Concurrency testing using controlled schedulers", TOPC 2016).
//!
//! We deviate: the papers choose again at every event. The mean length of a turn makes a great
//! difference: some bugs need many switches close to each other, others one in a long run. So
//! unless a length is given, the seed chooses it, from 1 to 512. It doubles from time to time,
//! because a long run would otherwise spend all its time switching.

use norn_abi::control::Plan;

use super::{Choice, Strategy};
use crate::{World, rng::Rng, run::RunState};

/// Number of turns after which the mean is doubled, and the maximum number of doublings.
const DOUBLED: u64 = 8192;
const MOST_DOUBLED: u64 = 9;

/// The strategy.
#[derive(Debug)]
pub(crate) struct Random {
    /// Number of turns so far.
    turns: u64,
}

impl Random {
    pub(crate) const fn new() -> Self {
        Self { turns: 0 }
    }

    /// Geometrically distributed: after each event the turn ends with the same probability.
    fn turn_length(&mut self, plan: &Plan, rng: &mut Rng) -> u64 {
        self.turns += 1;
        let mean = match plan.quantum {
            0 => (1 << (plan.seed % 10)) << (self.turns / DOUBLED).min(MOST_DOUBLED),
            mean => u64::from(mean),
        };
        let most = mean * 8;
        (1..most).find(|_| rng.below(mean) == 0).unwrap_or(most)
    }
}

impl Strategy for Random {
    #[expect(clippy::cast_possible_truncation, reason = "a number of tasks")]
    fn choose(&mut self, run: &mut RunState, world: &dyn World) -> Choice {
        let count = run.tasks.candidates().count() as u64;
        let nth = run.rng.below(count) as usize;
        let chosen = run.tasks.candidates().nth(nth).map(|(id, _)| id);
        let Some(chosen) = chosen else { return Choice::Idle };
        Choice::Run(chosen, self.turn_length(world.plan(), &mut run.rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_length(plan: &Plan, turns: u64) -> u64 {
        let (mut random, mut rng) = (Random::new(), Rng::new());
        let total: u64 = (0..turns).map(|_| random.turn_length(plan, &mut rng)).sum();
        total / turns
    }

    #[test]
    fn the_plan_gives_the_mean_length() {
        let turns = if cfg!(miri) { 200 } else { 2000 };
        let mean = mean_length(&Plan { quantum: 100, ..Plan::default() }, turns);
        assert!((80..120).contains(&mean), "{mean}");
    }

    #[test]
    fn the_seed_gives_the_mean_length_if_the_plan_does_not() {
        let plan = |seed| Plan { seed, ..Plan::default() };
        assert_eq!(mean_length(&plan(0), 100), 1);
        assert_eq!(mean_length(&plan(10), 100), 1);
        assert!(mean_length(&plan(9), 100) > 200);
    }
}
