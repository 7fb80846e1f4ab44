//! Tasks. A task waits in its team's queue until a thread comes to a barrier or waits for its own
//! tasks; in a region with one thread it is executed at once.
//!
//! A task that depends on others is executed by the thread that creates it, after the tasks that this
//! thread has created before: one of the orders that the program allows.

use core::sync::atomic::{AtomicUsize, Ordering};

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    Context, Member, task_memory,
    team::{Team, claim, give_way},
};
use crate::{event, intercept::alloc, sys};

/// The body of a task.
#[derive(Clone, Copy)]
pub struct Body {
    pub function: usize,
    pub data: usize,
    /// How the function is called.
    pub call: unsafe fn(&Body),
    /// The block that holds the data, which is freed at the end; 0 if there is none.
    pub block: usize,
}

/// A task.
pub struct Task {
    /// What identifies its creation, and the ends of its children.
    key: usize,
    body: Body,
    parent: *mut Task,
    group: *mut Group,
    /// The thread that created it.
    creator: *mut Member,
    /// Number of children that have not ended.
    children: u32,
    /// Whether its body has ended.
    ended: bool,
    pub(super) next: *mut Task,
}

/// A group of tasks that one thread waits for, with all their descendants.
pub struct Group {
    key: usize,
    unfinished: u32,
    outer: *mut Group,
}

/// The tasks of a team that no thread executes yet.
pub struct Queue {
    first: *mut Task,
    last: *mut Task,
    /// Number of tasks that have not ended, whether in the queue or not.
    pub unfinished: u32,
    /// Whether there was any task.
    pub used: bool,
}

impl Queue {
    /// What identifies the ends of the team's tasks.
    pub fn key(&self) -> usize {
        &raw const self.used as usize
    }

    pub fn has_any(&self) -> bool {
        !self.first.is_null()
    }

    /// Takes the first task that fits.
    ///
    /// # Safety
    /// The tasks in the queue exist, and the team is locked.
    unsafe fn take(&mut self, fits: impl Fn(&Task) -> bool) -> *mut Task {
        let (mut before, mut task) = (core::ptr::null_mut::<Task>(), self.first);
        // SAFETY: guaranteed by the caller.
        unsafe {
            while !task.is_null() && !fits(&*task) {
                (before, task) = (task, (*task).next);
            }
            if task.is_null() {
                return task;
            }
            if before.is_null() {
                self.first = (*task).next;
            } else {
                (*before).next = (*task).next;
            }
            if self.last == task {
                self.last = before;
            }
        }
        task
    }

    /// # Safety
    /// The task exists and is in no queue, and the team is locked.
    unsafe fn push(&mut self, task: *mut Task) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.last.is_null() {
                self.first = task;
            } else {
                (*self.last).next = task;
            }
        }
        self.last = task;
        self.unfinished += 1;
        self.used = true;
    }
}

/// Keys are unique in the process, so that a task is never confused with an earlier one in the same
/// memory. They are no addresses of the program's.
fn new_key() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    const FIRST: usize = 1 << 62;
    FIRST + 8 * LAST.fetch_add(1, Ordering::Relaxed)
}

impl Task {
    /// The task of a thread in a region.
    pub fn implicit() -> Task {
        let none = |_: &Body| {};
        Task {
            key: new_key(),
            body: Body { function: 0, data: 0, call: none, block: 0 },
            parent: core::ptr::null_mut(),
            group: core::ptr::null_mut(),
            creator: core::ptr::null_mut(),
            children: 0,
            ended: false,
            next: core::ptr::null_mut(),
        }
    }
}

/// Creates a task. `deferred` is whether another thread may execute it, and later.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn create(
    slot: *mut ThreadSlot,
    member: *mut Member,
    pc: usize,
    body: Body,
    deferred: bool,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (team, parent) = ((*member).now.team, (*member).now.task);
        let task =
            if deferred && !team.is_null() { task_memory::take() } else { core::ptr::null_mut() };
        if task.is_null() {
            return run_inside(member, pc, body);
        }
        let group = (*member).now.group;
        *task = Task { body, parent, group, creator: member, ..Task::implicit() };
        event::put(slot, Kind::HappensBefore, pc, (*task).key, &[]);
        claim(team);
        (*team).lock();
        (*parent).children += 1;
        if !group.is_null() {
            (*group).unfinished += 1;
        }
        (*team).queue.push(task);
        (*team).notify();
        (*team).unlock();
    }
}

/// Executes a task at once, as part of the current thread's work.
///
/// # Safety
/// The member is the current thread's.
unsafe fn run_inside(member: *mut Member, pc: usize, body: Body) {
    // SAFETY: guaranteed by the caller. The children of the task become children of the current one,
    // which waits for them at the latest at the end of the region.
    unsafe {
        let group = (*member).now.group;
        (body.call)(&body);
        (*member).now.group = group;
        if body.block != 0 {
            alloc::free(body.block, pc);
        }
    }
}

/// Executes one task of the team that fits, if there is any. Returns whether there was.
///
/// # Safety
/// The slot and the member are the current thread's, in a region with several threads.
pub unsafe fn execute_one(
    slot: *mut ThreadSlot,
    member: *mut Member,
    pc: usize,
    fits: impl Fn(&Task) -> bool,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let team = (*member).now.team;
        (*team).lock();
        let first = find(&(*team).queue, &fits);
        let is_own = !first.is_null() && (*first).creator == member;
        (*team).unlock();
        // The more threads execute tasks, the more of their orders are possible.
        if is_own || (*member).now.was_busy {
            give_way(slot, pc);
        }
        claim(team);
        (*team).lock();
        let task = (*team).queue.take(fits);
        (*team).unlock();
        if task.is_null() {
            return false;
        }
        event::put(slot, Kind::HappensAfter, pc, (*task).key, &[]);
        let outer = (*member).now;
        (*member).now.task = task;
        (*member).now.group = (*task).group;
        let body = (*task).body;
        (body.call)(&body);
        if body.block != 0 {
            alloc::free(body.block, pc);
        }
        (*member).now = Context { was_busy: true, ..outer };
        end(slot, team, pc, task);
        true
    }
}

/// The body of a task has ended.
///
/// # Safety
/// The slot is the current thread's, which has executed the task.
unsafe fn end(slot: *mut ThreadSlot, team: *mut Team, pc: usize, task: *mut Task) {
    // SAFETY: guaranteed by the caller. The parent exists, since it has a child that has not ended.
    unsafe {
        let (parent, group) = ((*task).parent, (*task).group);
        event::put(slot, Kind::HappensBefore, pc, (*parent).key, &[]);
        if !group.is_null() {
            event::put(slot, Kind::HappensBefore, pc, (*group).key, &[]);
        }
        event::put(slot, Kind::HappensBefore, pc, (*team).queue.key(), &[]);
        (*team).lock();
        (*task).ended = true;
        (*team).queue.unfinished -= 1;
        (*parent).children -= 1;
        if !group.is_null() {
            (*group).unfinished -= 1;
        }
        release(task);
        if (*parent).ended {
            release(parent);
        }
        (*team).notify();
        (*team).unlock();
    }
}

/// Waits for the children of the current task, and executes them meanwhile.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn wait_children(slot: *mut ThreadSlot, member: *mut Member, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (team, task) = ((*member).now.team, (*member).now.task);
        if team.is_null() {
            return;
        }
        let done = || (*task).children == 0;
        wait_until(slot, member, pc, done, |it| it.parent == task);
        event::put(slot, Kind::HappensAfter, pc, (*task).key, &[]);
    }
}

/// Waits until `done`, and executes the tasks that fit meanwhile.
///
/// # Safety
/// The slot and the member are the current thread's, in a region with several threads.
unsafe fn wait_until(
    slot: *mut ThreadSlot,
    member: *mut Member,
    pc: usize,
    done: impl Fn() -> bool,
    fits: impl Fn(&Task) -> bool,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let team = (*member).now.team;
        (*team).lock();
        while !done() {
            if !find(&(*team).queue, &fits).is_null() {
                (*team).unlock();
                execute_one(slot, member, pc, &fits);
            } else {
                (*team).wait(slot, pc);
            }
            (*team).lock();
        }
        (*team).unlock();
    }
}

/// The first task in a queue that fits; null if there is none.
///
/// # Safety
/// The team of the queue is locked.
unsafe fn find(queue: &Queue, fits: impl Fn(&Task) -> bool) -> *mut Task {
    let mut task = queue.first;
    // SAFETY: guaranteed by the caller: the tasks in the queue exist.
    unsafe {
        while !task.is_null() && !fits(&*task) {
            task = (*task).next;
        }
    }
    task
}

/// Begins a group of tasks.
///
/// # Safety
/// The member is the current thread's.
pub unsafe fn begin_group(member: *mut Member) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let now = &mut (*member).now;
        if let Some(page) = sys::map_private(size_of::<Group>()).filter(|_| now.is_parallel()) {
            let group = page as *mut Group;
            *group = Group { key: new_key(), unfinished: 0, outer: now.group };
            now.group = group;
        }
    }
}

/// Ends a group of tasks: waits for all of them, and executes tasks meanwhile.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn end_group(slot: *mut ThreadSlot, member: *mut Member, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let group = (*member).now.group;
        if group.is_null() {
            return;
        }
        wait_until(slot, member, pc, || (*group).unfinished == 0, |it| it.group == group);
        event::put(slot, Kind::HappensAfter, pc, (*group).key, &[]);
        (*member).now.group = (*group).outer;
    }
}

/// Gives the memory of a task back if no child needs it any more. The task of a region is not in such
/// memory.
///
/// # Safety
/// The body of the task has ended, and its team is locked.
unsafe fn release(task: *mut Task) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (*task).children == 0 && !(*task).parent.is_null() {
            task_memory::give_back(task);
        }
    }
}
