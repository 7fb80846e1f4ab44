//! What the scheduler asks about the outside.

use norn_abi::control::{Name, Plan, Point, Segment};

use crate::TaskId;

/// The outside as the scheduler sees it: the plan, the threads' event counters, and what the kernel
/// knows. Every question is asked only where its answer is needed, since some of them are slow
/// (they read `/proc`).
pub trait World {
    /// The plan in force.
    fn plan(&self) -> &Plan;

    /// The names of the schedule's threads; the first is the program's first thread.
    fn names(&self) -> &[Name];

    /// The segments of the schedule.
    fn segments(&self) -> &[Segment];

    /// The points of the schedule.
    fn points(&self) -> &[Point];

    /// Where a module of the schedule is mapped; 0 if it is not.
    fn module_start(&self, module: u32) -> u64;

    /// Events that the task's thread has done. If that thread runs at this moment, the number may
    /// be one that is just passing.
    fn steps(&self, task: TaskId) -> u64;

    /// How many events the task's thread had done when it last changed something that other
    /// threads can see.
    fn last_effect(&self, task: TaskId) -> u64;

    /// Nanoseconds of the real monotonic clock.
    fn real_time(&self) -> u64;

    /// Nanoseconds that a processor has spent on the task's thread. None if that is not known, or
    /// the thread sleeps while it waits for its turn.
    fn cpu_time(&self, task: TaskId) -> Option<u64>;

    /// Whether the kernel says that the task's thread sleeps.
    fn is_asleep(&self, task: TaskId) -> bool;

    /// Whether the task's thread stands still for a reason that is known: the recorder must catch
    /// up, a debugger or a signal has stopped it, or the program is about to end.
    fn is_excused(&self, task: TaskId) -> bool;

    /// Whether something that the scheduler does not see could wake a program of `tasks` threads
    /// that is stuck: a thread that is no task, or a signal handler.
    fn has_unseen_help(&self, tasks: usize) -> bool;

    /// Whether a verdict has ended the run.
    fn is_over(&self) -> bool;
}
