//! Answers the scheduler's queries about this process.

use core::sync::atomic::Ordering;

use norn_abi::control::{Name, Plan, Point, Segment};
use norn_sched::{Sleep, TaskId, World};

use super::{exit, sample, schedule, seat, verdict};
use crate::{arena, intercept, signal, sys, task_state};

/// This process, as the scheduler sees it.
pub struct Process;

impl World for Process {
    fn plan(&self) -> &Plan {
        arena::plan()
    }

    fn names(&self) -> &[Name] {
        arena::schedule_names()
    }

    fn segments(&self) -> &[Segment] {
        arena::segments()
    }

    fn points(&self) -> &[Point] {
        arena::points()
    }

    fn module_start(&self, module: u32) -> u64 {
        schedule::module_start(module)
    }

    fn steps(&self, task: TaskId) -> u64 {
        seat::of(task).steps()
    }

    fn last_effect(&self, task: TaskId) -> u64 {
        seat::of(task).effect()
    }

    fn real_time(&self) -> u64 {
        sys::now(sys::MONOTONIC)
    }

    fn cpu_time(&self, task: TaskId) -> Option<u64> {
        let seat = seat::of(task);
        sys::spent(seat.tid()).filter(|_| !seat.asleep.load(Ordering::Relaxed))
    }

    fn sleep(&self, task: TaskId) -> Sleep {
        task_state::sleep(seat::of(task).tid())
    }

    fn is_looping(&self, task: TaskId, events: u64) -> bool {
        sample::is_looping(task, events)
    }

    fn is_excused(&self, task: TaskId) -> bool {
        verdict::is_found()
            || is_dying(task)
            || arena::is_awaited()
            || task_state::is_stopped(seat::of(task).tid())
    }

    fn has_unseen_help(&self, tasks: usize) -> bool {
        signal::is_help_possible() || task_state::threads() > tasks + exit::count()
    }

    fn begins_handler(&self, timer: usize) -> bool {
        intercept::timer::begins_handler(timer)
    }

    fn is_over(&self) -> bool {
        verdict::is_found()
    }
}

/// Whether the thread has received a signal that ends the program: no thread continues after that.
fn is_dying(task: TaskId) -> bool {
    let outcome = arena::outcome();
    let hit = outcome.signal_thread.load(Ordering::Relaxed);
    outcome.signal.load(Ordering::Acquire) != 0 && hit == seat::of(task).thread()
}
