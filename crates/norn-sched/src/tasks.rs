//! The table of all tasks.

use core::ops::{Index, IndexMut};

use norn_abi::{Kind, arena::THREADS};

use crate::{TaskId, task::Task};

/// Maximum number of live threads. Small in tests, where schedulers live on stacks.
pub const TASKS: usize = if cfg!(test) { 32 } else { THREADS };

/// The table of all tasks.
#[derive(Debug)]
pub(crate) struct Tasks {
    table: [Task; TASKS],
    /// Number of entries that were ever used.
    used: usize,
    /// Number of turns so far in which a thread had an effect that others can observe. A thread
    /// that was found spinning spins until this changes.
    pub(crate) changes: u64,
}

impl Index<TaskId> for Tasks {
    type Output = Task;

    fn index(&self, task: TaskId) -> &Task {
        // Every id is an index of the table; the remainder lets the compiler see that.
        &self.table[task.index() % TASKS]
    }
}

impl IndexMut<TaskId> for Tasks {
    fn index_mut(&mut self, task: TaskId) -> &mut Task {
        &mut self.table[task.index() % TASKS]
    }
}

impl Tasks {
    #[cfg_attr(not(test), expect(clippy::large_stack_arrays, reason = "a constant, for a static"))]
    pub(crate) const fn new() -> Self {
        Self { table: [const { Task::NEW }; TASKS], used: 0, changes: 0 }
    }

    /// All tasks that were ever used, including those of ended threads.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Task> {
        self.table.iter().take(self.used)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        self.table.iter_mut().take(self.used)
    }

    /// The same, with their ids.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.iter().enumerate().map(|(index, task)| (TaskId::at(index), task))
    }

    /// The first task, if there is one.
    pub(crate) fn first(&self) -> Option<TaskId> {
        (self.used > 0).then_some(TaskId::FIRST)
    }

    /// The task after this one, if there is one.
    pub(crate) fn next(&self, task: TaskId) -> Option<TaskId> {
        let next = task.index() + 1;
        (next < self.used).then(|| TaskId::at(next))
    }

    /// Whether the task was ever used.
    pub(crate) fn is_used(&self, task: TaskId) -> bool {
        task.index() < self.used
    }

    /// A task for a new thread: the first one without a live thread. Slot numbers of the arena
    /// would not do, because the recorder frees slots at times that differ between runs.
    pub(crate) fn adopt(&mut self, thread: u32, foreign: bool) -> Option<TaskId> {
        let free = self.table.iter().take(self.used).position(|it| !it.alive && !it.dormant);
        let free = free.unwrap_or(self.used);
        let task = self.table.get_mut(free)?;
        task.begin(thread, foreign);
        self.used = self.used.max(free + 1);
        Some(TaskId::at(free))
    }

    /// Removes all tasks, in a forked child, where the other threads do not exist.
    pub(crate) fn forget_all(&mut self) {
        self.iter_mut().for_each(|it| (it.alive, it.dormant) = (false, false));
    }

    /// Number of live threads.
    pub(crate) fn alive(&self) -> usize {
        self.iter().filter(|it| it.alive && !it.is_handler()).count()
    }

    /// Whether others should run first, because the task spins or has yielded.
    pub(crate) fn is_idle(&self, task: &Task) -> bool {
        task.spin.is_idle(self.changes)
    }

    /// Whether a task may be chosen while others are ready as well.
    pub(crate) fn is_candidate(&self, task: &Task) -> bool {
        task.is_ready() && !self.is_idle(task)
    }

    /// The task of the handlers that interrupt `host`, if there was ever one.
    pub(crate) fn handler_of(&self, host: TaskId) -> Option<TaskId> {
        let mut handlers = self.entries().filter(|(_, it)| it.alive || it.dormant);
        handlers.find(|(_, it)| it.host == Some(host)).map(|(id, _)| id)
    }

    /// All tasks that may be chosen.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.entries().filter(|(_, it)| self.is_candidate(it))
    }

    pub(crate) fn has_candidate(&self) -> bool {
        self.candidates().next().is_some()
    }

    /// The candidate with the highest priority; of several, the last.
    pub(crate) fn highest(&self) -> Option<TaskId> {
        self.candidates().max_by_key(|(_, it)| it.priority).map(|(id, _)| id)
    }

    /// The first task after `last` for which `f` holds, cyclically.
    pub(crate) fn after(&self, last: TaskId, f: impl Fn(&Task) -> bool) -> Option<TaskId> {
        let behind = self.entries().filter(|(id, _)| *id > last);
        let from_start = self.entries().filter(|(id, _)| *id <= last);
        behind.chain(from_start).find(|(_, it)| f(it)).map(|(id, _)| id)
    }

    /// The task with this index, in the order of waiting, among those that wait to execute `kind`
    /// on `object`.
    pub(crate) fn nth_waiter(&self, kind: Kind, object: usize, number: usize) -> Option<TaskId> {
        let mut floor = 0;
        let mut found = None;
        for _ in 0..=number {
            let waiters = self.entries().filter(|(_, it)| it.waits_for(kind, object));
            let later = waiters.filter(|(_, it)| it.ticket > floor);
            let (id, task) = later.min_by_key(|(_, it)| it.ticket)?;
            (floor, found) = (task.ticket, Some(id));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(count: u32) -> Tasks {
        let mut tasks = Tasks::new();
        (0..count).for_each(|thread| assert!(tasks.adopt(thread, false).is_some()));
        tasks
    }

    #[test]
    fn the_place_of_a_thread_that_ended_is_used_again() {
        let mut tasks = tasks(3);
        tasks[TaskId::at(1)].alive = false;
        assert_eq!(tasks.adopt(3, false), Some(TaskId::at(1)));
        assert_eq!(tasks.adopt(4, false), Some(TaskId::at(3)));
        assert_eq!(tasks.alive(), 4);
    }

    #[test]
    fn a_full_table_rejects_new_threads() {
        let mut tasks = tasks(u32::try_from(TASKS).unwrap());
        assert_eq!(tasks.adopt(99, false), None);
    }

    #[test]
    fn the_circle_begins_behind_the_last_and_ends_with_it() {
        let mut tasks = tasks(3);
        let ready = |tasks: &Tasks, last| tasks.after(TaskId::at(last), Task::is_ready);
        assert_eq!(ready(&tasks, 0), Some(TaskId::at(1)));
        assert_eq!(ready(&tasks, 2), Some(TaskId::at(0)));
        tasks[TaskId::at(0)].waiting = true;
        tasks[TaskId::at(1)].waiting = true;
        assert_eq!(ready(&tasks, 2), Some(TaskId::at(2)));
        assert_eq!(Tasks::new().after(TaskId::FIRST, |_| true), None);
    }

    #[test]
    fn waiters_come_in_the_order_of_waiting() {
        let mut tasks = tasks(4);
        for (index, ticket) in [(0, 9), (1, 3), (3, 5)] {
            let task = &mut tasks[TaskId::at(index)];
            (task.waiting, task.ticket) = (true, ticket);
            (task.event.kind, task.event.object) = (Kind::Wait, 8);
        }
        let order: Vec<_> =
            (0..4).map_while(|number| tasks.nth_waiter(Kind::Wait, 8, number)).collect();
        assert_eq!(order, [1, 3, 0].map(TaskId::at));
        assert_eq!(tasks.nth_waiter(Kind::Wait, 9, 0), None);
    }
}
