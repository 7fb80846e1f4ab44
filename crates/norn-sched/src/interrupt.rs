//! Other reasons for the end of a wait: a cancellation, or a signal handler ([`crate::handler`]).

use norn_abi::Kind;

use crate::{Interruption, Scheduler, TaskId};

impl Scheduler {
    /// A thread is cancelled: if it waits at a cancellation point, or may be cancelled anywhere, its
    /// wait ends.
    pub fn cancel(&mut self, thread: u32, anywhere: bool) {
        let freed = self.run.freed;
        for task in self.run.tasks.iter_mut().filter(|it| it.alive && it.thread == thread) {
            task.cancelled = true;
            if task.waiting && (anywhere || is_cancellable(task.event.kind)) {
                task.release();
                task.woken = freed;
            }
        }
    }

    /// Whether another thread has cancelled this one. True once.
    pub fn take_cancelled(&mut self, task: TaskId) -> bool {
        core::mem::take(&mut self.run.tasks[task].cancelled)
    }

    /// A signal handler has run when the task was about to wait: the wait ends at once.
    pub fn interrupt(&mut self, task: TaskId, restarts: bool) {
        let how = if restarts { Interruption::Restarts } else { Interruption::Fails };
        self.run.tasks[task].interruption = how;
    }

    /// Whether a signal handler has run since the task last waited. Reported once.
    pub fn take_interruption(&mut self, task: TaskId) -> Interruption {
        core::mem::take(&mut self.run.tasks[task].interruption)
    }
}

fn is_cancellable(kind: Kind) -> bool {
    matches!(kind, Kind::Wait | Kind::Sleep | Kind::Join | Kind::SemWait) || is_file(kind)
}

/// Whether a wait for this kind of event is one for a file.
pub(crate) fn is_file(kind: Kind) -> bool {
    matches!(kind, Kind::Receive | Kind::Send | Kind::Ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Event, NEVER, Wait,
        simulation::{SimulatedWorld, begun},
    };

    fn waiting(kind: Kind) -> (Box<Scheduler>, TaskId) {
        let (mut scheduler, [_, task]) = begun::<2>(&SimulatedWorld::default());
        let event = Event { kind, object: 1, pc: 0 };
        scheduler.wait(task, Wait { event, deadline: NEVER, outside: false });
        (scheduler, task)
    }

    #[test]
    fn a_cancellation_ends_a_wait_for_a_condition_but_not_for_a_lock() {
        let (mut scheduler, task) = waiting(Kind::Wait);
        scheduler.cancel(1, false);
        assert!(!scheduler.is_waiting(task));
        assert!(scheduler.take_cancelled(task) && !scheduler.take_cancelled(task));
        let (mut scheduler, task) = waiting(Kind::Acquire);
        scheduler.cancel(1, false);
        assert!(scheduler.is_waiting(task) && scheduler.take_cancelled(task));
        scheduler.cancel(1, true);
        assert!(!scheduler.is_waiting(task), "it is cancelled asynchronously");
    }
}
