//! Waiting tasks.

use norn_abi::Kind;

use crate::{Event, Interruption, NEVER, Scheduler, TaskId};

/// What a task waits for.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The event after the wait; the wait is ended by [`Scheduler::release_all`] or
    /// [`Scheduler::release_one`] for the same kind and object. A wait for [`Kind::Receive`],
    /// [`Kind::Send`] or [`Kind::Ready`] is one for a file, and also ended by
    /// [`Scheduler::look_again`].
    pub event: Event,
    /// The virtual time at which the wait times out; [`NEVER`] for none.
    pub deadline: u64,
    /// Whether it waits for an external event, and checks for it from time to time.
    pub outside: bool,
}

impl Scheduler {
    /// A task begins to wait. It keeps the turn until it gives it back.
    pub fn wait(&mut self, task: TaskId, wait: Wait) {
        let ticket = self.run.ticket();
        let now = self.run.counted;
        let task = &mut self.run.tasks[task];
        (task.waiting, task.deadline, task.timed_out) = (true, wait.deadline, false);
        task.interruption = Interruption::No;
        (task.event, task.ticket) = (wait.event, ticket);
        task.outside |= wait.outside;
        task.between = !task.waits_at_event();
        task.file_checked = now;
    }

    /// Whether a task waits.
    pub fn is_waiting(&self, task: TaskId) -> bool {
        self.run.tasks[task].waiting
    }

    /// Whether the task's last wait timed out. True once.
    pub fn take_timed_out(&mut self, task: TaskId) -> bool {
        core::mem::take(&mut self.run.tasks[task].timed_out)
    }

    /// A task arrives at a barrier for `all` tasks. The last of them releases the others and
    /// returns true; each of the others begins to wait.
    pub fn meet(&mut self, task: TaskId, event: Event, all: usize) -> bool {
        let Event { kind, object, .. } = event;
        let last = self.waiters(kind, object) + 1 >= all;
        if last {
            self.release_all(kind, object);
        } else {
            self.wait(task, Wait { event, deadline: NEVER, outside: false });
        }
        last
    }

    /// Number of tasks that wait to execute `kind` on `object`.
    pub fn waiters(&self, kind: Kind, object: usize) -> usize {
        self.run.tasks.iter().filter(|it| it.waits_for(kind, object)).count()
    }

    /// Whether a task waits to execute `kind` on `object`.
    pub fn is_awaited(&self, kind: Kind, object: usize) -> bool {
        self.waiters(kind, object) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{SimulatedWorld, begun};

    #[test]
    fn the_last_at_a_barrier_releases_the_others() {
        let world = SimulatedWorld::default();
        let (mut scheduler, tasks) = begun::<3>(&world);
        let event = Event { kind: Kind::BarrierEnter, object: 4, pc: 0 };
        assert!(!scheduler.meet(tasks[0], event, 3));
        assert!(!scheduler.meet(tasks[2], event, 3));
        assert!(scheduler.is_waiting(tasks[0]) && scheduler.is_waiting(tasks[2]));
        assert!(scheduler.meet(tasks[1], event, 3));
        assert!(tasks.iter().all(|it| !scheduler.is_waiting(*it)));
    }

    /// Libraries wait for futexes without an event: a schedule cannot name such a wait.
    #[test]
    fn a_wait_for_a_futex_is_between_two_events() {
        let (mut scheduler, [first, second]) = begun::<2>(&SimulatedWorld::default());
        for (task, kind) in [(first, Kind::Futex), (second, Kind::Acquire)] {
            let event = Event { kind, object: 4, pc: 0 };
            scheduler.wait(task, Wait { event, deadline: NEVER, outside: false });
        }
        let between = [first, second].map(|it| scheduler.run.tasks[it].between);
        assert_eq!(between, [true, false]);
    }

    /// A thread waits for a file of the program's own, and another one ends.
    fn alone_at_file(deadline: u64) -> (Box<Scheduler>, SimulatedWorld, TaskId) {
        let mut world = SimulatedWorld::default();
        let (mut scheduler, [first, second]) = begun::<2>(&world);
        let event = Event { kind: Kind::Receive, object: 4, pc: 0 };
        world.steps[first.index()] = 5;
        scheduler.wait(first, Wait { event, deadline, outside: false });
        let grant = scheduler.yield_turn(&world).grant;
        assert_eq!(grant.map(|it| it.task), Some(second));
        (scheduler, world, first)
    }

    #[test]
    fn a_wait_for_a_file_that_nobody_writes_is_a_deadlock_at_once() {
        let (mut scheduler, world, first) = alone_at_file(NEVER);
        let second = scheduler.holder().unwrap();
        scheduler.end(second);
        // It checks once more: code that the scheduler does not see may have written.
        let checks = scheduler.leave(second, &world);
        assert_eq!(checks.grant.map(|it| it.task), Some(first));
        let event = Event { kind: Kind::Receive, object: 4, pc: 0 };
        scheduler.wait(first, Wait { event, deadline: NEVER, outside: false });
        let stops = scheduler.yield_turn(&world);
        assert_eq!((stops.stop, stops.grant), (Some(crate::Verdict::Deadlock), None));
    }

    #[test]
    fn an_operation_on_files_lets_a_thread_check_its_own() {
        let (mut scheduler, _, first) = alone_at_file(NEVER);
        assert!(scheduler.is_waiting(first));
        scheduler.look_again();
        assert!(!scheduler.is_waiting(first));
    }
}
