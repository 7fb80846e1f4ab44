//! The virtual clock of a controlled run. It is independent of the real clock: it advances a little
//! with every event and every time it is read, and jumps forward to the next deadline when no
//! thread can continue before it. So a run waits for nothing, and the same schedule sees the same
//! times.

use norn_abi::control::Plan;

use crate::{NEVER, Scheduler, TaskId, World, run::RunState, task::Task};

/// The duration of an event in nanoseconds.
const EVENT: u64 = 100;
/// The duration of reading the clock in nanoseconds.
const READ: u64 = 1_000;
/// The clocks that show the time of day: `CLOCK_REALTIME`, its coarse form, `CLOCK_TAI`.
const REALTIME: i32 = 0;
const REALTIME_COARSE: i32 = 5;
const TAI: i32 = 11;

/// The virtual clock.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Nanoseconds by which the clock was advanced, and that reading it took.
    extra: u64,
    /// Number of tasks whose timeout is not recorded in a trace yet.
    unnoted: u32,
}

impl Clock {
    pub(crate) const fn new() -> Self {
        Self { extra: 0, unnoted: 0 }
    }
}

impl RunState {
    /// Nanoseconds since the start.
    pub(crate) fn now(&self, world: &dyn World) -> u64 {
        self.clock.extra + self.steps(world) * EVENT
    }

    /// Ends the waits whose deadlines have passed, unless a schedule lists the timeouts.
    pub(crate) fn release_expired(&mut self, world: &dyn World) {
        if self.lists_timeouts(world) {
            return;
        }
        let now = self.now(world);
        let due = |it: &Task| it.is_timed() && it.deadline <= now;
        // An expired task is no longer timed, so the loop ends.
        while let Some(task) = self.find(due) {
            self.expire(task);
        }
    }

    fn find(&self, f: impl Fn(&Task) -> bool) -> Option<TaskId> {
        self.tasks.entries().find(|(_, it)| f(it)).map(|(id, _)| id)
    }

    fn expire(&mut self, task: TaskId) {
        let ticket = self.ticket();
        let task = &mut self.tasks[task];
        task.timed_out = true;
        task.expired = ticket;
        task.release();
        self.clock.unnoted += 1;
    }

    /// The task with the earliest deadline.
    pub(crate) fn first_timed(&self) -> Option<TaskId> {
        let timed = self.tasks.entries().filter(|(_, it)| it.is_timed());
        timed.min_by_key(|(_, it)| (it.deadline, it.ticket)).map(|(id, _)| id)
    }

    /// Whether the clock may be advanced to the earliest deadline although other tasks could run.
    pub(crate) fn may_be_early(&self, world: &dyn World) -> bool {
        let Some(id) = self.first_timed() else { return false };
        let task = &self.tasks[id];
        match self.timers.first() {
            Some((_, expiry)) if expiry <= task.deadline => self.is_soon(expiry, world),
            _ => self.may_expire_early(task, world),
        }
    }

    /// Advances the clock to the earliest deadline, of a wait or of a timer.
    pub(crate) fn put_forward(&mut self, world: &dyn World) {
        let task = self.first_timed();
        let deadline = task.map_or(NEVER, |it| self.tasks[it].deadline);
        match (task, self.timers.first()) {
            (_, Some((timer, expiry))) if expiry <= deadline => self.force_timer(timer, world),
            (Some(task), _) => self.put_forward_to(task, world),
            (None, _) => {}
        }
    }

    /// Advances the clock to `then`, unless it is already later.
    pub(crate) fn advance_to(&mut self, then: u64, world: &dyn World) {
        self.clock.extra += then.saturating_sub(self.now(world));
    }

    /// A timer has made a signal pending for this task: the trace shows when.
    pub(crate) fn note_timer(&mut self, task: TaskId) {
        let ticket = self.ticket();
        let task = &mut self.tasks[task];
        if task.expired == 0 {
            task.expired = ticket;
            self.clock.unnoted += 1;
        }
    }

    /// Advances the clock to the deadline of `task`.
    pub(crate) fn put_forward_to(&mut self, task: TaskId, world: &dyn World) {
        let deadline = self.tasks[task].deadline;
        if deadline != NEVER {
            self.advance_to(deadline, world);
        }
        self.expire(task);
    }
}

impl Scheduler {
    /// Nanoseconds of virtual time since the start.
    pub fn now(&self, world: &dyn World) -> u64 {
        self.run.now(world)
    }

    /// The time that a clock shows when the program reads it.
    pub fn read_clock(&mut self, clock: i32, world: &dyn World) -> u64 {
        self.run.clock.extra += READ;
        let steps = self.run.steps(world);
        self.run.progress.time_passes(steps);
        start_of(clock, world.plan()) + self.run.now(world)
    }

    /// Advances the clock to `then` nanoseconds since the start, if it is behind.
    pub fn reach_time(&mut self, then: u64, world: &dyn World) {
        self.run.advance_to(then, world);
    }

    /// The number of the thread whose timeout was the first among those that no trace contains yet.
    /// Each is returned once.
    pub fn take_expired(&mut self) -> Option<u32> {
        if self.run.clock.unnoted == 0 {
            return None;
        }
        let unnoted = self.run.tasks.iter_mut().filter(|it| it.expired != 0);
        let first = unnoted.min_by_key(|it| it.expired)?;
        first.expired = 0;
        let thread = first.thread;
        self.run.clock.unnoted -= 1;
        Some(thread)
    }
}

/// The time since the start at which a clock shows `then`.
pub fn since_start(clock: i32, then: u64, plan: &Plan) -> u64 {
    then.saturating_sub(start_of(clock, plan))
}

/// The initial time of a clock.
fn start_of(clock: i32, plan: &Plan) -> u64 {
    match clock {
        REALTIME | REALTIME_COARSE | TAI => plan.realtime,
        _ => plan.monotonic,
    }
}
