//! Other reasons for the end of a wait: a cancellation, a signal handler.

use norn_abi::Kind;

use crate::{Interruption, Scheduler, TaskId};

impl Scheduler {
    /// A thread is cancelled: if it waits at a cancellation point, its wait ends.
    pub fn cancel(&mut self, thread: u32) {
        let freed = self.run.freed;
        for task in self.run.tasks.iter_mut().filter(|it| it.alive && it.thread == thread) {
            task.cancelled = true;
            if task.waiting && is_cancellable(task.event.kind) {
                task.release();
                task.woken = freed;
            }
        }
    }

    /// Whether another thread has cancelled this one. True once.
    pub fn take_cancelled(&mut self, task: TaskId) -> bool {
        core::mem::take(&mut self.run.tasks[task].cancelled)
    }

    /// Whether a signal handler has run since the task last waited. Reported once.
    pub fn take_interruption(&mut self, task: TaskId) -> Interruption {
        core::mem::take(&mut self.run.tasks[task].interruption)
    }

    /// A signal handler begins on the task's thread: it needs the turn, whatever the thread waits
    /// for. Returns whether the thread ran without the turn.
    pub fn handler_begins(&mut self, task: TaskId) -> bool {
        let task = &mut self.run.tasks[task];
        task.handlers += 1;
        task.away
    }

    /// The handler has ended: the thread waits again, or continues where it was. Returns whether it
    /// gives the turn back for that.
    pub fn handler_ends(&mut self, task: TaskId, away: bool, restarts: bool) -> bool {
        let task = &mut self.run.tasks[task];
        task.handlers = task.handlers.saturating_sub(1);
        task.away = away;
        if task.waiting && (task.outside || is_interruptible(task.event.kind)) {
            task.release();
            task.interruption = if restarts { Interruption::Restarts } else { Interruption::Fails };
        }
        away || task.handlers == 0 && task.waiting
    }
}

fn is_cancellable(kind: Kind) -> bool {
    matches!(kind, Kind::Wait | Kind::Sleep | Kind::Join | Kind::SemWait) || is_file(kind)
}

fn is_interruptible(kind: Kind) -> bool {
    matches!(kind, Kind::SemWait | Kind::Sleep) || is_file(kind)
}

/// Whether a wait for this kind of event is one for a file.
fn is_file(kind: Kind) -> bool {
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
        scheduler.cancel(1);
        assert!(!scheduler.is_waiting(task));
        assert!(scheduler.take_cancelled(task) && !scheduler.take_cancelled(task));
        let (mut scheduler, task) = waiting(Kind::Acquire);
        scheduler.cancel(1);
        assert!(scheduler.is_waiting(task) && scheduler.take_cancelled(task));
    }

    #[test]
    fn a_handler_interrupts_a_semaphore_but_not_a_lock() {
        let (mut scheduler, task) = waiting(Kind::SemWait);
        assert!(!scheduler.handler_begins(task));
        assert!(!scheduler.handler_ends(task, false, false), "it goes on with the turn");
        assert_eq!(scheduler.take_interruption(task), Interruption::Fails);
        assert_eq!(scheduler.take_interruption(task), Interruption::No);
        let (mut scheduler, task) = waiting(Kind::Acquire);
        scheduler.handler_begins(task);
        assert!(scheduler.handler_ends(task, false, true), "it waits again");
        assert_eq!(scheduler.take_interruption(task), Interruption::No);
    }
}
