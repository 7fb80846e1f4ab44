//! The scheduler's queries about the outside.

use norn_abi::control::{Name, Plan, Point, Segment};

use crate::TaskId;

/// What a thread sleeps for, according to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sleep {
    /// It does not sleep: it runs, or waits for a processor or a disk.
    #[default]
    No,
    /// It is in a system call that another thread may have to end: it waits for a futex or a file.
    ForOthers,
    /// It is in any other system call: a pause, the end of a child process, or a call that does not
    /// usually sleep.
    Alone,
}

/// The outside of the scheduler: the plan, the threads' event counters, and the state in the
/// kernel. Every query is made only where its answer is needed, since some are slow (they read
/// `/proc`).
pub trait World {
    /// The current plan.
    fn plan(&self) -> &Plan;

    /// The threads of the schedule; the first is the program's main thread.
    fn names(&self) -> &[Name];

    /// The segments of the schedule.
    fn segments(&self) -> &[Segment];

    /// The points of the schedule.
    fn points(&self) -> &[Point];

    /// The address of a module of the schedule; 0 if it is not loaded.
    fn module_start(&self, module: u32) -> u64;

    /// Number of events of the task's thread. If the thread is running, the number may be outdated
    /// at once.
    fn steps(&self, task: TaskId) -> u64;

    /// Number of events of the task's thread at its last effect that other threads can observe.
    fn last_effect(&self, task: TaskId) -> u64;

    /// Nanoseconds of the real monotonic clock.
    fn real_time(&self) -> u64;

    /// CPU time of the task's thread in nanoseconds. `None` if it is unknown, or if the thread
    /// sleeps while it waits for its turn.
    fn cpu_time(&self, task: TaskId) -> Option<u64>;

    /// What the task's thread sleeps for, according to the kernel.
    fn sleep(&self, task: TaskId) -> Sleep;

    /// Whether the task's thread, which computes without events, was twice in the same state: at the same
    /// place in its code, with the same variables. Then it waits in a loop for another thread to change
    /// memory. Both times were after the first query with this number of events of all threads. Asked
    /// repeatedly, since each query may only begin an observation.
    fn is_looping(&self, task: TaskId, events: u64) -> bool;

    /// Whether the task's thread is stopped for a known reason: the recorder must catch up, a
    /// debugger or a signal has stopped it, or the program is about to end.
    fn is_excused(&self, task: TaskId) -> bool;

    /// Whether something outside the scheduler's view could wake a stuck program of `tasks`
    /// threads: a thread that is not a task, or a signal handler.
    fn has_unseen_help(&self, tasks: usize) -> bool;

    /// Whether the expiry of a timer would begin a signal handler of the program.
    fn begins_handler(&self, timer: usize) -> bool;

    /// Whether a verdict has ended the run.
    fn is_over(&self) -> bool;
}
