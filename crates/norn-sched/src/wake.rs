//! Ends the waits of tasks.

use norn_abi::Kind;

use crate::{Scheduler, TaskId, World, scheduler::planned, strategy::Waiters};

impl Scheduler {
    /// Lets all tasks that wait to execute `kind` on `object` try again.
    pub fn release_all(&mut self, kind: Kind, object: usize) {
        let freed = self.run.freed;
        for task in self.run.tasks.iter_mut().filter(|it| it.waits_for(kind, object)) {
            task.release();
            task.woken = freed;
        }
    }

    /// Releases one of the tasks that wait to execute `kind` on `object`; the strategy chooses it.
    /// Returns whether there was any.
    pub fn release_one(&mut self, kind: Kind, object: usize, world: &dyn World) -> bool {
        let waiters = Waiters { kind, object, count: self.waiters(kind, object) };
        if waiters.count == 0 {
            return false;
        }
        let strategy = match planned(world) {
            // After the run has left a schedule, its remaining segments still determine which task
            // is due.
            kind @ norn_abi::control::StrategyKind::Follow => kind,
            _ => self.run.in_force,
        };
        let number = self.strategies.of(strategy).pick_waiter(&mut self.run, &waiters, world);
        if let Some(id) = self.run.tasks.nth_waiter(kind, object, number) {
            self.set_off(id);
        }
        true
    }

    /// Lets tasks that wait for external events check again: a thread of the program may have
    /// caused one.
    pub fn look_again(&mut self) {
        self.release_outside();
    }

    /// Ends the wait of a task, if it waits: it checks whether what it waits for has happened.
    pub fn end_wait(&mut self, task: TaskId) {
        if self.run.tasks[task].waiting {
            self.set_off(task);
        }
    }

    /// Ends the wait of a task.
    pub(crate) fn set_off(&mut self, task: TaskId) {
        let freed = self.run.freed;
        let task = &mut self.run.tasks[task];
        task.release();
        task.woken = freed;
    }

    /// A task whose wait has ended while threads run freely: its thread must be woken. Each is
    /// returned once.
    pub fn next_woken(&mut self) -> Option<TaskId> {
        let (id, _) = self.run.tasks.entries().find(|(_, it)| it.woken)?;
        self.run.tasks[id].woken = false;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use norn_abi::control::strategy;

    use super::*;
    use crate::{
        Event, NEVER, Wait,
        simulation::{SimulatedWorld, begun},
    };

    fn wait(scheduler: &mut Scheduler, task: TaskId, object: usize) {
        let event = Event { kind: Kind::Wait, object, pc: 0 };
        scheduler.wait(task, Wait { event, deadline: NEVER, outside: false });
    }

    #[test]
    fn only_tasks_that_wait_for_the_same_thing_are_released() {
        let (mut scheduler, tasks) = begun::<3>(&SimulatedWorld::default());
        wait(&mut scheduler, tasks[0], 1);
        wait(&mut scheduler, tasks[1], 2);
        scheduler.release_all(Kind::Wait, 1);
        assert_eq!(tasks.map(|it| scheduler.is_waiting(it)), [false, true, false]);
        scheduler.release_all(Kind::Join, 2);
        assert!(scheduler.is_waiting(tasks[1]));
        assert_eq!(scheduler.next_woken(), None, "threads wait for their turns");
    }

    #[test]
    fn in_turn_the_first_to_wait_is_the_first_to_go() {
        let world = SimulatedWorld::default();
        let (mut scheduler, tasks) = begun::<3>(&world);
        for index in [2, 0, 1] {
            wait(&mut scheduler, tasks[index], 1);
        }
        assert!(scheduler.release_one(Kind::Wait, 1, &world));
        assert!(!scheduler.is_waiting(tasks[2]) && scheduler.is_waiting(tasks[0]));
        assert!(!scheduler.release_one(Kind::Wait, 9, &world));
    }

    #[test]
    fn a_strategy_that_explores_wakes_any() {
        let mut woken = [false; 3];
        for seed in 0..40 {
            let mut world = SimulatedWorld::default();
            (world.plan.strategy, world.plan.seed) = (strategy::RANDOM, seed);
            let (mut scheduler, tasks) = begun::<3>(&world);
            for task in tasks {
                wait(&mut scheduler, task, 1);
            }
            assert!(scheduler.release_one(Kind::Wait, 1, &world));
            let first = tasks.iter().position(|it| !scheduler.is_waiting(*it)).unwrap();
            woken[first] = true;
        }
        assert_eq!(woken, [true; 3]);
    }

    #[test]
    fn once_all_run_freely_released_threads_must_be_woken() {
        let (mut scheduler, tasks) = begun::<2>(&SimulatedWorld::default());
        wait(&mut scheduler, tasks[1], 1);
        scheduler.run.freed = true;
        scheduler.release_all(Kind::Wait, 1);
        assert_eq!(scheduler.next_woken(), Some(tasks[1]));
        assert_eq!(scheduler.next_woken(), None);
    }
}
