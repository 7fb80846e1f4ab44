//! The strategies: each is one file with one implementation of [`Strategy`].
//!
//! A new strategy is a file here, its entries in [`Strategies`] below, and a line in the table of
//! names (`norn-abi/src/control/strategy.rs`).

pub(crate) mod follow;
mod pct;
mod pos;
mod random;
pub(crate) mod report;
mod round_robin;
mod segment;

use norn_abi::{
    Kind,
    control::{Plan, StrategyKind},
};

use self::{follow::Follow, pct::Pct, pos::Pos, random::Random, round_robin::RoundRobin};
use crate::{TaskId, World, rng::Rng, run::RunState};

/// The choice of a strategy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This task runs for this many events, or until it cannot. 0 lets a task whose next event is
    /// not known yet run up to that event.
    Run(TaskId, u64),
    /// No task runs before an external event.
    Idle,
    /// The strategy has ended: round robin takes its place.
    Over,
}

/// Tasks that wait to execute the same operation; one of them continues.
#[derive(Debug)]
pub(crate) struct Waiters {
    pub(crate) kind: Kind,
    pub(crate) object: usize,
    pub(crate) count: usize,
}

/// Chooses the next task. A strategy uses no other randomness than the run's, so that the same seed
/// gives the same choices.
pub(crate) trait Strategy {
    /// A process begins to run under this strategy.
    fn start(&mut self, _plan: &Plan, _rng: &mut Rng) {}

    /// The priority of a new task.
    fn priority(&mut self, rng: &mut Rng) -> u64 {
        rng.draw()
    }

    /// The task that has the turn arrives at its next event, where others may be chosen.
    fn at_event(&mut self, _run: &mut RunState, _task: TaskId) {}

    /// Whether it explores: then a wait may also time out early, and any of several tasks that wait
    /// for a signal may get it.
    fn explores(&self) -> bool {
        true
    }

    /// The task that runs next. There is at least one candidate; except that [`Follow`] is always
    /// asked, since a schedule may also wait, or give the turn to a task that spins.
    fn choose(&mut self, run: &mut RunState, world: &dyn World) -> Choice;

    /// Which of several waiting tasks continues, as an index in the order of waiting.
    #[expect(clippy::cast_possible_truncation, reason = "a number of tasks")]
    fn pick_waiter(&mut self, run: &mut RunState, waiters: &Waiters, _world: &dyn World) -> usize {
        if self.explores() { run.rng.below(waiters.count as u64) as usize } else { 0 }
    }
}

/// The registry: the state of every strategy, in place. One of them is current; they are not
/// variants of one enum, since replacing its value would copy hundreds of bytes with `memcpy`,
/// which the runtime interposes.
#[derive(Debug)]
pub(crate) struct Strategies {
    round_robin: RoundRobin,
    random: Random,
    pct: Pct,
    pos: Pos,
    pub(crate) follow: Follow,
}

impl Strategies {
    pub(crate) const fn new() -> Self {
        Self {
            round_robin: RoundRobin,
            random: Random::new(),
            pct: Pct::new(),
            pos: Pos::new(),
            follow: Follow::new(),
        }
    }

    /// The strategy of this kind.
    pub(crate) fn of(&mut self, kind: StrategyKind) -> &mut dyn Strategy {
        match kind {
            StrategyKind::Random => &mut self.random,
            StrategyKind::Pct => &mut self.pct,
            StrategyKind::Pos => &mut self.pos,
            StrategyKind::Follow => &mut self.follow,
            StrategyKind::RoundRobin | StrategyKind::None => &mut self.round_robin,
        }
    }
}
