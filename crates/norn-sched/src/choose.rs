//! Asks the current strategy for the next task, and handles what is common to all strategies: the
//! end of a schedule, early timeouts, and programs in which every thread spins.

use norn_abi::control::{StrategyKind, after};

use crate::{
    Decision, Scheduler, TaskId, Verdict, World,
    strategy::{Choice, Strategy as _},
    task::Task,
};

/// On average, one of this many decisions lets a wait time out early.
const EARLY: u64 = 32;
/// Number of events of a turn while every thread spins.
const SPIN_TURN: u64 = 64;

impl Scheduler {
    /// The task that runs next, and for how many events.
    pub(crate) fn choose(
        &mut self,
        world: &dyn World,
        decision: &mut Decision,
    ) -> Option<(TaskId, u64)> {
        self.run.after_turn(world);
        if self.run.follows() {
            match self.strategies.follow.choose(&mut self.run, world) {
                Choice::Run(task, events) => return Some(self.remember(task, events)),
                Choice::Idle => return None,
                Choice::Over => self.end_schedule(world, decision),
            }
        }
        if !self.run.tasks.has_candidate() {
            let (task, events) = self.choose_spinning(world, decision)?;
            return Some(self.remember(task, events));
        }
        if let Some((task, events)) = self.choose_overlooked(world) {
            return Some(self.remember(task, events));
        }
        self.maybe_early(world);
        match self.strategies.of(self.run.in_force).choose(&mut self.run, world) {
            Choice::Run(task, events) => Some(self.remember(task, events)),
            Choice::Idle | Choice::Over => None,
        }
    }

    fn remember(&mut self, task: TaskId, events: u64) -> (TaskId, u64) {
        self.run.last = Some(task);
        (task, events)
    }

    /// The schedule has ended: the program continues as the plan requires.
    fn end_schedule(&mut self, world: &dyn World, decision: &mut Decision) {
        self.run.in_force = StrategyKind::RoundRobin;
        match world.plan().after {
            after::FREE => {
                // Their calls may block from now on.
                self.release_outside();
                (self.run.freed, decision.freed) = (true, true);
            }
            after::STOP => decision.stop = Some(Verdict::Stopped),
            _ => {}
        }
    }

    /// Time passes while threads run, so a sleeping thread may wake before others execute anything.
    fn maybe_early(&mut self, world: &dyn World) {
        let explores = self.strategies.of(self.run.in_force).explores();
        if explores && self.run.may_be_early(world) && self.run.rng.below(EARLY) == 0 {
            self.run.put_forward(world);
        }
    }

    /// Every thread only repeats reads: they run in turn for some time. A watched thread asks at
    /// each event; once it is clear that it makes no progress, asking does not end its turn, since
    /// a switch is slow.
    fn choose_spinning(
        &mut self,
        world: &dyn World,
        decision: &mut Decision,
    ) -> Option<(TaskId, u64)> {
        if !self.run.tasks.iter().any(Task::is_ready) {
            return None;
        }
        if self.run.is_hopeless() {
            let changes = self.run.tasks.changes;
            // A thread that sleeps in each round of its loop spins, too.
            let spins = |it: &Task| it.spin.spins(changes);
            let may_change = |it: &Task| it.is_outside() || it.is_timed() && !spins(it);
            if self.run.tasks.iter().any(may_change) {
                return None;
            }
            if !self.run.let_unproven_run(world) {
                decision.stop.get_or_insert(Verdict::Livelock);
                return None;
            }
            if self.run.is_stalled() {
                decision.stop.get_or_insert(Verdict::Steps);
                return None;
            }
        }
        let (now, last) = (self.run.counted, self.run.last());
        let goes_on = self.run.progress.is_stale() && now - self.spin_turn_since < SPIN_TURN;
        if goes_on && self.run.tasks.is_used(last) && self.run.tasks[last].is_ready() {
            return Some((last, SPIN_TURN));
        }
        self.spin_turn_since = now;
        self.run.tasks.after(last, Task::is_ready).map(|it| (it, SPIN_TURN))
    }
}
