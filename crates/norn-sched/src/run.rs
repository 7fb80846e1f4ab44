//! The state of a controlled run that every strategy sees.

use norn_abi::control::{StrategyKind, timeouts};

use crate::{TaskId, World, clock::Clock, rng::Rng, spin::Progress, tasks::Tasks};

/// How long a program that seems stuck is given, in nanoseconds of real time, if something that the
/// scheduler does not see could wake it.
const DOUBT: u64 = 2_000_000_000;

/// All but the strategies' own state.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) tasks: Tasks,
    pub(crate) rng: Rng,
    pub(crate) clock: Clock,
    pub(crate) progress: Progress,
    /// The strategy that is in force: the plan's, or round robin once a schedule is over.
    pub(crate) in_force: StrategyKind,
    /// The task that has the turn. None while nobody can go on.
    pub(crate) holder: Option<TaskId>,
    /// Events of all threads before the current turn.
    pub(crate) counted: u64,
    /// The task that had the turn last, if any did; see [`RunState::last`].
    pub(crate) last: Option<TaskId>,
    /// Nobody waits for a turn any more.
    pub(crate) freed: bool,
    /// Since when the program seems stuck, in real time; 0 if it does not.
    pub(crate) doubtful_since: u64,
    /// The last number in the order of waiting.
    tickets: u64,
}

impl RunState {
    pub(crate) const fn new() -> Self {
        Self {
            tasks: Tasks::new(),
            rng: Rng::new(),
            clock: Clock::new(),
            progress: Progress::new(),
            in_force: StrategyKind::None,
            holder: None,
            counted: 0,
            last: None,
            freed: false,
            doubtful_since: 0,
            tickets: 0,
        }
    }

    /// Events of all threads so far. Exact if the thread that has the turn asks, or nobody has it.
    pub(crate) fn steps(&self, world: &dyn World) -> u64 {
        match self.holder {
            None => self.counted,
            Some(task) => self.counted + world.steps(task) - self.tasks[task].since,
        }
    }

    /// The task that had the turn last; at first, the first.
    pub(crate) fn last(&self) -> TaskId {
        self.last.unwrap_or(TaskId::FIRST)
    }

    /// The next number in the order of waiting, from 1.
    pub(crate) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Whether a schedule is being followed.
    pub(crate) fn follows(&self) -> bool {
        self.in_force == StrategyKind::Follow
    }

    /// Whether a schedule is followed that lists every time-out of a wait.
    pub(crate) fn lists_timeouts(&self, world: &dyn World) -> bool {
        self.follows() && world.plan().timeouts == timeouts::LISTED
    }

    /// Whether something that the scheduler does not see could still wake a stuck program. After
    /// [`DOUBT`] that is not believed any more.
    pub(crate) fn may_be_saved(&mut self, world: &dyn World) -> bool {
        let now = world.real_time();
        let since = self.doubtful_since;
        if !world.has_unseen_help(self.tasks.alive()) || since != 0 && now - since > DOUBT {
            return false;
        }
        if since == 0 {
            self.doubtful_since = now;
        }
        true
    }
}
