//! The state of a controlled run that all strategies see.

use norn_abi::control::{StrategyKind, timeouts};

use crate::{TaskId, World, clock::Clock, rng::Rng, spin::Progress, tasks::Tasks, timer::Timers};

/// How long a program that seems stuck may continue, in nanoseconds of real time, if something
/// outside the scheduler's view could wake it.
const DOUBT: u64 = 2_000_000_000;

/// All state but that of the strategies.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) tasks: Tasks,
    pub(crate) rng: Rng,
    pub(crate) clock: Clock,
    pub(crate) timers: Timers,
    pub(crate) progress: Progress,
    /// The current strategy: that of the plan, or round robin once a schedule has ended.
    pub(crate) in_force: StrategyKind,
    /// The task that has the turn; `None` while no task can run.
    pub(crate) holder: Option<TaskId>,
    /// Number of events of all threads before the current turn.
    pub(crate) counted: u64,
    /// The task that had the turn last, if any; see [`RunState::last`].
    pub(crate) last: Option<TaskId>,
    /// Threads no longer wait for a turn.
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
            timers: Timers::new(),
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

    /// Number of events of all threads so far. Exact if the caller has the turn, or no thread has
    /// it.
    pub(crate) fn steps(&self, world: &dyn World) -> u64 {
        match self.holder {
            None => self.counted,
            Some(task) => self.counted + world.steps(task) - self.tasks[task].since,
        }
    }

    /// The task that had the turn last; initially the first one.
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

    /// Whether a schedule is followed that lists every timeout.
    pub(crate) fn lists_timeouts(&self, world: &dyn World) -> bool {
        self.follows() && world.plan().timeouts == timeouts::LISTED
    }

    /// Lets the tasks check their files again that have not done so since the last event: code that
    /// the runtime does not see may have operated on the files. Returns whether there was one.
    pub(crate) fn recheck_files(&mut self) -> bool {
        let now = self.counted;
        let mut found = false;
        for task in self.tasks.iter_mut() {
            if task.waits_for_file() && task.file_checked < now {
                task.release();
                found = true;
            }
        }
        found
    }

    /// Whether something outside the scheduler's view could still wake a stuck program. After
    /// [`DOUBT`] the answer is no.
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
