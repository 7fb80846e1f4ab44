//! The clock of a controlled run. It does not follow the world's: it advances a little with every
//! event and every time it is read, and jumps forward when nobody can go on before some time. So a
//! run waits for nothing, and the same schedule sees the same times.

use norn_abi::control::Plan;

use crate::{NEVER, Scheduler, TaskId, World, run::RunState, task::Task};

/// How much time an event takes.
const EVENT: u64 = 100;
/// How much time reading the clock takes.
const READ: u64 = 1_000;
/// A program that gives its peers longer than this to answer means that to be enough for what they
/// have to do: such a wait does not end early.
const LONG: u64 = 1_000_000_000;
/// The clocks that show the time of day: `CLOCK_REALTIME`, its coarse form, `CLOCK_TAI`.
const REALTIME: i32 = 0;
const REALTIME_COARSE: i32 = 5;
const TAI: i32 = 11;

/// The virtual clock.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Nanoseconds by which the clock was put forward, and that reading it took.
    extra: u64,
    /// Tasks whose time has run out, and no trace says so yet.
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

    /// Tasks whose time has come need not wait any longer, unless a schedule says which ones.
    pub(crate) fn release_expired(&mut self, world: &dyn World) {
        if self.lists_timeouts(world) {
            return;
        }
        let now = self.now(world);
        let due = |it: &Task| it.is_timed() && it.deadline <= now;
        // Expiring a task makes it untimed, so the search ends.
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

    /// The task that waits for the time that comes first.
    fn first_timed(&self) -> Option<TaskId> {
        let timed = self.tasks.entries().filter(|(_, it)| it.is_timed());
        timed.min_by_key(|(_, it)| (it.deadline, it.ticket)).map(|(id, _)| id)
    }

    /// Whether the clock may be put forward while others could go on: a sleep or a wait for another
    /// thread may end before they have done anything, but see [`LONG`].
    pub(crate) fn may_be_early(&self, world: &dyn World) -> bool {
        self.first_timed().is_some_and(|id| {
            let task = &self.tasks[id];
            !task.outside || task.deadline.saturating_sub(self.now(world)) <= LONG
        })
    }

    /// Puts the clock forward to the first time for which a task waits.
    pub(crate) fn put_forward(&mut self, world: &dyn World) {
        if let Some(task) = self.first_timed() {
            self.put_forward_to(task, world);
        }
    }

    /// Puts the clock forward until the time of `task` has come.
    pub(crate) fn put_forward_to(&mut self, task: TaskId, world: &dyn World) {
        let deadline = self.tasks[task].deadline;
        if deadline != NEVER {
            self.clock.extra += deadline.saturating_sub(self.now(world));
        }
        self.expire(task);
    }
}

impl Scheduler {
    /// Nanoseconds of virtual time since the start.
    pub fn now(&self, world: &dyn World) -> u64 {
        self.run.now(world)
    }

    /// What a clock shows when the program reads it.
    pub fn read_clock(&mut self, clock: i32, world: &dyn World) -> u64 {
        self.run.clock.extra += READ;
        let steps = self.run.steps(world);
        self.run.progress.time_passes(steps);
        start_of(clock, world.plan()) + self.run.now(world)
    }

    /// Puts the clock forward to `then` nanoseconds since the start, if it is earlier.
    pub fn reach_time(&mut self, then: u64, world: &dyn World) {
        self.run.clock.extra += then.saturating_sub(self.run.now(world));
    }

    /// The number of the thread whose time was the first to run out among those that no trace notes
    /// yet. Each is returned once.
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

/// What a clock shows at the start.
fn start_of(clock: i32, plan: &Plan) -> u64 {
    match clock {
        REALTIME | REALTIME_COARSE | TAI => plan.realtime,
        _ => plan.monotonic,
    }
}
