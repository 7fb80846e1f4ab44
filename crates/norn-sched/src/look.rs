//! What a thread does that has slept for a while without its turn: it looks whether time must be put
//! forward, whether what it waits for outside has come, or whether the thread with the turn is gone.

use crate::{Decision, NEVER, Scheduler, TaskId, World, task::Task};

/// How long a thread that waits for something outside sleeps before it looks again, in nanoseconds
/// of real time like all that follow.
const LOOK_AGAIN: u64 = 1_000_000;
/// How long nobody may be able to go on before time is put forward, while a task waits for something
/// outside.
const PATIENCE: u64 = 5_000_000;
/// How long a thread that is due waits for something outside while others could go on, and how long
/// while others might find that they can. Then it no longer looks, so that the schedule is left.
const IN_VAIN: u64 = 500_000_000;
const MAYBE_IN_VAIN: u64 = 4_000_000_000;
/// How long a thread that waits for nothing but its turn sleeps before it looks whether the one with
/// the turn sleeps, too.
pub const TURN_PATIENCE: u64 = 20_000_000;
/// How long a thread that waits for another sleeps before it looks whether all are stuck.
const LONG: u64 = 250_000_000;

impl Scheduler {
    /// How long the task's thread sleeps before it looks around, in nanoseconds.
    pub fn patience(&self, task: TaskId) -> u64 {
        let task = &self.run.tasks[task];
        match () {
            () if task.is_ready() => TURN_PATIENCE,
            () if task.outside => LOOK_AGAIN,
            () if task.deadline != NEVER => PATIENCE,
            () => LONG,
        }
    }

    /// A thread that does not have the turn has slept for a while and looks around.
    pub fn look_around(&mut self, id: TaskId, world: &dyn World) -> Decision {
        // It is here, whatever others took it for.
        self.run.tasks[id].away = false;
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
        let timed = !self.run.lists_timeouts(world) && self.run.tasks.iter().any(Task::is_timed);
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

    /// If the thread with the turn is in code that is not instrumented, the turn goes on without it.
    fn look_after(&mut self, holder: TaskId, world: &dyn World) -> Decision {
        let (thread, steps) = (self.run.tasks[holder].thread, self.run.steps(world));
        if !self.watch.is_away(holder, thread, steps, world) {
            return self.unchanged();
        }
        let mut decision = self.take_back(world);
        self.run.tasks[holder].away = true;
        decision.away = Some(holder);
        self.pass(world, &mut decision);
        decision
    }

    /// Whether nobody else can go on. Then a thread may look outside without the strategy being
    /// asked: how often it looks in vain is a matter of real time, and must change nothing.
    fn is_alone(&self, task: TaskId) -> bool {
        let others = self.run.tasks.entries().any(|(id, it)| it.is_ready() && id != task);
        !others && !self.run.follows()
    }

    /// How long nobody may be able to go on before time is put forward. A thread in code that is not
    /// instrumented, for which a schedule waits, will mostly be back before that.
    fn before_time(&self) -> u64 {
        let away = self.run.tasks.iter().any(|it| it.alive && it.away);
        if away && self.run.follows() { IN_VAIN } else { PATIENCE }
    }

    /// Whether nothing has happened for long though a task could go on: a schedule wants another one
    /// first, and what that one waits for outside may be what this one would do.
    fn is_in_vain(&self, idle: u64) -> bool {
        let mut others = self.run.tasks.candidates().map(|(_, it)| it.looks);
        match others.next() {
            Some(looks) if looks && others.all(|it| it) => idle >= MAYBE_IN_VAIN,
            Some(_) => idle >= IN_VAIN,
            None => false,
        }
    }
}
