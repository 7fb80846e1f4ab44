//! The turn: one task has it and runs, the others sleep. It passes when the running thread reaches
//! its next event, so that all its previous events are complete.

use norn_abi::control::verdict;

use crate::{
    Scheduler, TaskId, World,
    run::RunState,
    task::{LONGEST, Task},
};

/// Number of events after which the tasks that wait for external events check again.
const OUTSIDE: u64 = 10_000;

/// The reason why the scheduler ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Verdict {
    /// No thread can ever continue.
    Deadlock = verdict::DEADLOCK,
    /// All tasks that can continue spin.
    Livelock = verdict::LIVELOCK,
    /// The run exceeded the maximum number of events.
    Steps = verdict::STEPS,
    /// The schedule has ended, and the plan asks to stop there.
    Stopped = verdict::STOPPED,
}

impl Verdict {
    /// Its number in [`verdict`].
    pub const fn code(self) -> u32 {
        self as u32
    }
}

/// Gives the turn to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The task, whose thread sleeps or is the caller.
    pub task: TaskId,
    /// The count of its events at which its thread must ask again.
    pub stop_at: u64,
    /// If the task is that of a signal handler which has not begun: the task whose thread must call
    /// the handler.
    pub begins_on: Option<TaskId>,
}

/// What the caller must do, in this order, before it releases the scheduler's lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// The task that has lost the turn.
    pub taken_back: Option<TaskId>,
    /// The task whose thread continues without the turn, and must ask at its next event.
    pub away: Option<TaskId>,
    /// Number of events of all threads so far.
    pub steps: u64,
    /// Whether from now on all threads run freely, without turns.
    pub freed: bool,
    /// The verdict, if the run ends.
    pub stop: Option<Verdict>,
    /// The timer that has expired. The caller lets it have its effect, and then calls
    /// [`Scheduler::go_on`].
    pub timer: Option<usize>,
    /// The task that gets the turn.
    pub grant: Option<Grant>,
}

/// Why no task can run.
enum Idle {
    /// A deadline must be reached.
    Timed,
    /// An external event must happen.
    Outside,
    /// No thread is left.
    Over,
    /// Nothing will ever happen.
    Stuck,
}

impl Scheduler {
    /// The task that has the turn.
    pub fn holder(&self) -> Option<TaskId> {
        self.run.holder
    }

    /// Number of events of all threads so far. Exact if the caller has the turn, or no thread has
    /// it.
    pub fn steps(&self, world: &dyn World) -> u64 {
        self.run.steps(world)
    }

    /// Takes the turn from its holder, and gives it to the next task.
    pub fn yield_turn(&mut self, world: &dyn World) -> Decision {
        let mut decision = self.take_back(world);
        self.pass(world, &mut decision);
        decision
    }

    /// A thread returns from running without the turn, and waits for it.
    pub fn come_back(&mut self, task: TaskId, world: &dyn World) -> Decision {
        self.set_away(task, false);
        self.pass_if_idle(world)
    }

    /// Continues after a timer of a decision has expired.
    pub fn go_on(&mut self, world: &dyn World) -> Decision {
        self.pass_if_idle(world)
    }

    /// Notes whether a task runs without the turn. Meanwhile no handler can begin on its thread.
    pub(crate) fn set_away(&mut self, task: TaskId, away: bool) {
        self.run.tasks[task].away = away;
        if let Some(handler) = self.run.tasks.handler_of(task)
            && !self.run.tasks[handler].handles
        {
            self.run.tasks[handler].away = away;
        }
    }

    /// A thread begins to run without the turn, or ends, or a signal handler on it has ended and it
    /// waits again.
    pub fn leave(&mut self, task: TaskId, world: &dyn World) -> Decision {
        if self.run.holder == Some(task) {
            return self.yield_turn(world);
        }
        self.pass_if_idle(world)
    }

    /// Passes the turn on if no task has it.
    pub(crate) fn pass_if_idle(&mut self, world: &dyn World) -> Decision {
        let mut decision = self.unchanged();
        if self.run.holder.is_none() {
            self.pass(world, &mut decision);
        }
        decision
    }

    /// The decision that changes nothing.
    pub(crate) fn unchanged(&self) -> Decision {
        Decision { steps: self.run.counted, ..Decision::default() }
    }

    /// Takes the turn from its holder and counts its events.
    pub(crate) fn take_back(&mut self, world: &dyn World) -> Decision {
        let taken_back = self.run.holder.take();
        if let Some(id) = taken_back {
            let task = &mut self.run.tasks[id];
            task.counted = world.steps(id);
            let done = task.counted - task.since;
            self.run.counted += done;
            if done > 0 {
                self.run.last = Some(id);
            }
        }
        Decision { taken_back, ..self.unchanged() }
    }

    /// Gives the turn to the next task. No task has it.
    pub(crate) fn pass(&mut self, world: &dyn World, decision: &mut Decision) {
        let limit = world.plan().max_steps;
        if limit != 0 && self.run.counted >= limit {
            decision.stop = Some(Verdict::Steps);
        }
        self.run.release_expired(world);
        self.look_outside();
        loop {
            if decision.stop.is_some() || world.is_over() || self.run.freed {
                return;
            }
            decision.timer = self.run.take_due_timer(world);
            if decision.timer.is_some() {
                return;
            }
            if let Some((task, events)) = self.choose(world, decision) {
                decision.grant = Some(self.grant(task, events, world));
                return;
            }
            match idle(&self.run) {
                _ if self.run.timers.is_any_due() => {}
                Idle::Timed | Idle::Stuck if self.run.recheck_files() => {}
                Idle::Timed if self.run.lists_timeouts(world) => return self.be_idle(world),
                Idle::Timed => self.run.put_forward(world),
                Idle::Outside => return self.be_idle(world),
                Idle::Over => return,
                Idle::Stuck if self.run.may_be_saved(world) => return self.be_idle(world),
                Idle::Stuck => {
                    decision.stop.get_or_insert(Verdict::Deadlock);
                    return;
                }
            }
        }
    }

    /// Gives the turn to a task.
    pub(crate) fn grant(&mut self, id: TaskId, events: u64, world: &dyn World) -> Grant {
        let task = &mut self.run.tasks[id];
        // The count includes an event that it completed without the turn.
        task.since = world.steps(id);
        self.run.counted += task.since.saturating_sub(task.counted);
        // A thread whose next event is not known yet may be stopped there.
        task.until = task.since + events.clamp(u64::from(!task.between), LONGEST);
        task.looks = false;
        if !task.is_handler() {
            self.run.timers.thread_runs();
        }
        self.run.doubtful_since = 0;
        self.run.holder = Some(id);
        let begins_on = task.host.filter(|_| !task.handles);
        Grant { task: id, stop_at: task.next_stop(task.since), begins_on }
    }

    /// From time to time, tasks that wait for external events check for them, even if others can
    /// run.
    fn look_outside(&mut self) {
        let now = self.run.counted;
        if now - self.looked_outside > OUTSIDE {
            self.looked_outside = now;
            self.release_outside();
        }
    }

    /// Lets all tasks that wait for external events or for files check for them.
    pub(crate) fn release_outside(&mut self) {
        let waits = |it: &&mut Task| it.alive && it.outside || it.waits_for_file();
        self.run.tasks.iter_mut().filter(waits).for_each(Task::release);
    }

    /// No task can run. The duration counts from the last event: unsuccessful checks for external
    /// events do not matter.
    fn be_idle(&mut self, world: &dyn World) {
        if self.idle_at.replace(self.run.counted) != Some(self.run.counted) {
            self.idle_since = world.real_time();
        }
    }
}

fn idle(run: &RunState) -> Idle {
    let any = |f: fn(&Task) -> bool| run.tasks.iter().any(f);
    match () {
        () if any(Task::is_outside) => Idle::Outside,
        () if any(Task::is_timed) || run.timers.may_expire() => Idle::Timed,
        () if any(|it| it.alive) => Idle::Stuck,
        () => Idle::Over,
    }
}
