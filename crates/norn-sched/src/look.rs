//! Periodic checks by a thread that has slept for a while without the turn: whether the clock must
//! be advanced, whether an external event that it waits for has happened, or whether the thread
//! with the turn is gone.

use crate::{Decision, NEVER, Scheduler, TaskId, World, task::Task};

/// How long a thread that waits for an external event sleeps between two checks, in nanoseconds of
/// real time like all constants below.
const LOOK_AGAIN: u64 = 1_000_000;
/// How long all tasks may be unable to run before the clock is advanced, while a task waits for an
/// external event.
const PATIENCE: u64 = 5_000_000;
/// How long a thread that is due waits for an external event while others could run, or might find
/// that they can. Then it stops checking, and the run leaves the schedule.
const IN_VAIN: u64 = 500_000_000;
const MAYBE_IN_VAIN: u64 = 4_000_000_000;
/// How long a thread that only waits for its turn sleeps before it checks whether the thread with
/// the turn sleeps as well.
pub const TURN_PATIENCE: u64 = 20_000_000;
/// How long a thread that waits for another one sleeps before it checks whether all are stuck.
const LONG: u64 = 250_000_000;

impl Scheduler {
    /// How long the task's thread sleeps before its next check, in nanoseconds.
    pub fn patience(&self, task: TaskId) -> u64 {
        let task = &self.run.tasks[task];
        match () {
            () if task.is_ready() => TURN_PATIENCE,
            () if task.outside => LOOK_AGAIN,
            () if task.deadline != NEVER => PATIENCE,
            () => LONG,
        }
    }

    /// A thread without the turn has slept for a while and checks the state of the run.
    pub fn look_around(&mut self, id: TaskId, world: &dyn World) -> Decision {
        // It is here, even if it was considered to be away.
        self.set_away(id, false);
        if self.run.freed {
            if self.run.tasks[id].is_timed() {
                self.run.put_forward_to(id, world);
            }
            return self.unchanged();
        }
        if let Some(holder) = self.run.holder {
            return self.look_after(holder, world);
        }
        let now = world.real_time();
        let idle = now - self.idle_since;
        let timed = !self.run.lists_timeouts(world)
            && (self.run.tasks.iter().any(Task::is_timed) || self.run.timers.may_expire())
            && !self.run.is_guarded(world);
        let mut decision = self.unchanged();
        if timed && idle >= self.before_time() {
            self.idle_since = now;
            self.run.put_forward(world);
        } else if self.run.tasks[id].outside && !self.is_in_vain(idle) {
            self.run.tasks[id].release();
            if self.is_alone(id) && !world.is_over() {
                decision.grant = Some(self.grant(id, 1, world));
                return decision;
            }
        }
        self.pass(world, &mut decision);
        decision
    }

    /// If the thread with the turn is in uninstrumented code, the turn passes on without it.
    fn look_after(&mut self, holder: TaskId, world: &dyn World) -> Decision {
        let (thread, steps) = (self.run.tasks[holder].thread, self.run.steps(world));
        if !self.watch.is_away(holder, thread, steps, world) {
            return self.unchanged();
        }
        let mut decision = self.take_back(world);
        self.go_away(holder);
        decision.away = Some(holder);
        self.pass(world, &mut decision);
        decision
    }

    /// Whether no other task can run. Then a thread may check for external events without asking
    /// the strategy: the number of unsuccessful checks depends on real time and must not influence
    /// decisions.
    fn is_alone(&self, task: TaskId) -> bool {
        let others = self.run.tasks.entries().any(|(id, it)| it.is_ready() && id != task);
        !others && !self.run.follows()
    }

    /// How long all tasks may be unable to run before the clock is advanced. A thread in
    /// uninstrumented code, for which a schedule waits, usually returns before that.
    fn before_time(&self) -> u64 {
        let away = self.run.tasks.iter().any(|it| it.alive && it.away);
        if away && self.run.follows() { IN_VAIN } else { PATIENCE }
    }

    /// Whether nothing has happened for long although a task could run: the schedule requires
    /// another one first, and the external event that it waits for may depend on this one.
    fn is_in_vain(&self, idle: u64) -> bool {
        let mut others = self.run.tasks.candidates().map(|(_, it)| it.looks);
        match others.next() {
            Some(looks) if looks && others.all(|it| it) => idle >= MAYBE_IN_VAIN,
            Some(_) => idle >= IN_VAIN,
            None => false,
        }
    }
}
