//! The scheduler as a value, and the lifecycle of its tasks.

use norn_abi::{Kind, control::StrategyKind};

use crate::{
    FollowReport, TaskId, World,
    fairness::Fairness,
    run::RunState,
    strategy::{Strategies, follow},
    task::UNNAMED,
    watch::TurnWatch,
};

/// Decides which thread runs next. The value is large and meant to be a static: [`Scheduler::new`]
/// is all zero, and its parts are never moved.
#[derive(Debug)]
pub struct Scheduler {
    pub(crate) run: RunState,
    pub(crate) strategies: Strategies,
    pub(crate) watch: TurnWatch,
    pub(crate) fairness: Fairness,
    /// Number of events of all threads when the current spinning thread began to run, while all
    /// spin.
    pub(crate) spin_turn_since: u64,
    /// Number of times that a thread yielded and kept the turn, since the last one that lost it.
    pub(crate) kept_yields: u32,
    /// The real time since which no task can run, and the number of events then.
    pub(crate) idle_since: u64,
    pub(crate) idle_at: Option<u64>,
    /// Number of events of all threads at the last check for external events.
    pub(crate) looked_outside: u64,
}

/// A thread that is about to be created, or that was discovered.
#[derive(Clone, Copy, Debug)]
pub struct NewThread {
    /// Its number.
    pub thread: u32,
    /// Which child of its parent it is, from 1.
    pub child: u32,
    /// Whether it was created by uninstrumented code.
    pub foreign: bool,
}

impl Scheduler {
    /// A scheduler without tasks.
    pub const fn new() -> Self {
        Self {
            run: RunState::new(),
            strategies: Strategies::new(),
            watch: TurnWatch::new(),
            fairness: Fairness::new(),
            spin_turn_since: 0,
            kept_yields: 0,
            idle_since: 0,
            idle_at: None,
            looked_outside: 0,
        }
    }

    /// The first thread of a process begins, and has the turn. Unless the process is `due` to
    /// follow the schedule, if there is one, its threads run in turn.
    pub fn begin(&mut self, first: NewThread, due: bool, world: &dyn World) -> Option<TaskId> {
        let plan = world.plan();
        let planned = planned(world);
        let stands_by = planned == StrategyKind::Follow && !due;
        self.run.rng.seed(plan.seed);
        self.run.in_force = if stands_by { StrategyKind::RoundRobin } else { planned };
        self.strategies.follow.stand_by();
        self.strategies.of(self.run.in_force).start(plan, &mut self.run.rng);
        let task = self.adopt(first, None, world)?;
        self.run.tasks[task].entry = 0;
        self.run.holder = Some(task);
        Some(task)
    }

    /// In a forked child: removes the threads of the parent, which do not exist here.
    pub fn forget_tasks(&mut self) {
        self.run.tasks.forget_all();
    }

    /// A thread is about to be created: it can be chosen from now on. `None` if there are too many.
    pub fn adopt(
        &mut self,
        thread: NewThread,
        parent: Option<TaskId>,
        world: &dyn World,
    ) -> Option<TaskId> {
        let parent = parent.map_or(UNNAMED, |it| self.run.tasks[it].entry);
        let id = self.run.tasks.adopt(thread.thread, thread.foreign)?;
        if parent != UNNAMED {
            self.run.tasks[id].entry = follow::entry(parent, thread.child, world);
        }
        let strategy = self.strategies.of(self.run.in_force);
        self.run.tasks[id].priority = strategy.priority(&mut self.run.rng);
        Some(id)
    }

    /// The creation of a thread failed.
    pub fn disown(&mut self, task: TaskId) {
        self.run.tasks[task].alive = false;
    }

    /// A thread has ended: threads that join it may continue. The caller gives its turn back by
    /// [`Scheduler::leave`].
    pub fn end(&mut self, task: TaskId) {
        self.end_handlers(task);
        let ended = &mut self.run.tasks[task];
        ended.alive = false;
        let (entry, thread) = (ended.entry, ended.thread);
        self.strategies.follow.thread_ends(entry);
        self.release_all(Kind::Join, thread as usize);
    }

    /// Whether the thread with this number has not ended.
    pub fn is_alive(&self, thread: u32) -> bool {
        self.run.tasks.iter().any(|it| it.alive && it.thread == thread)
    }

    /// All tasks whose threads have not ended.
    pub fn living(&self) -> impl Iterator<Item = TaskId> {
        self.run.tasks.entries().filter(|(_, it)| it.alive).map(|(id, _)| id)
    }

    /// Whether another task could run, or runs without the turn.
    pub fn has_active_others(&self, task: TaskId) -> bool {
        self.run.has_active_others(task)
    }

    /// The entry of the task's thread in the schedule's table; `u32::MAX` if it has none.
    pub fn entry(&self, task: TaskId) -> u32 {
        self.run.tasks[task].entry
    }

    /// How far the schedule was followed, if that has changed since the last call.
    pub fn take_report(&mut self) -> Option<FollowReport> {
        self.strategies.follow.take_report()
    }
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::new()
    }
}

/// The strategy of the plan. An unknown number is round robin.
pub(crate) fn planned(world: &dyn World) -> StrategyKind {
    StrategyKind::from_code(world.plan().strategy).unwrap_or(StrategyKind::RoundRobin)
}
