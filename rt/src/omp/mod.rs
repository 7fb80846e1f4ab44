//! OpenMP in recorded processes.
//!
//! The libraries of gcc and clang keep threads in spin loops and in system calls that the runtime
//! does not see. So in a recorded process, Norn replaces them: the functions that compilers call for
//! OpenMP's constructs ([`gomp`](crate::intercept::gomp), [`kmpc`](crate::intercept::kmpc)) lead to
//! this implementation. It waits where the scheduler knows of it, and records what orders threads:
//!
//! | construct | events |
//! |---|---|
//! | parallel region | creation of the workers, once; then a semaphore for each worker, and a barrier at the end |
//! | barrier | barrier |
//! | critical, atomic, reduction, locks | lock |
//! | ordered | a semaphore for each chunk |
//! | task | annotations: creation before start, end before what waits for it |
//! | which thread gets the next chunk, section, task, or the `single` region | one relaxed atomic counter for each team: it keeps the assignment, and orders nothing |
//!
//! Regions inside regions have one thread, as by default in both libraries.

pub mod construct;
pub mod lock;
pub mod task;
mod task_memory;
pub mod team;

use core::sync::atomic::AtomicU32;

use norn_abi::arena::ThreadSlot;

use self::{
    construct::Loop,
    task::{Group, Task},
    team::Team,
};
use crate::{sys, thread};

/// The OpenMP state of a thread.
pub struct Member {
    /// Its state in the innermost parallel region.
    pub now: Context,
    /// The team that it leads in parallel regions; null until it has begun one.
    crew: *mut Team,
    /// Of a worker: the team that it works for.
    employer: *mut Team,
    /// Of a worker: its number in the team.
    place: u32,
    /// Of a worker: the number of regions that it was called for, and whether it must end.
    calls: AtomicU32,
    quits: bool,
    /// The number of threads requested for the next region; 0 if none is.
    pub wanted: u32,
    /// The contexts around the regions with one thread that [`descend`] has begun, and their number.
    outer: [Context; DEEPEST],
    depth: usize,
}

/// Maximum number of regions with one thread in each other whose ends are calls. Deeper ones are
/// treated as part of the region around them.
const DEEPEST: usize = 8;

/// The state of a thread in a parallel region.
#[derive(Clone, Copy)]
pub struct Context {
    /// Its team; null if the region has only one thread.
    pub team: *mut Team,
    /// Its number in the team.
    pub number: u32,
    /// Number of enclosing parallel regions.
    pub level: u32,
    /// Number of constructs that it has begun, among those that distribute work.
    constructs: u64,
    /// The loop that it executes, and its progress there.
    work: Loop,
    /// The task that it executes; null in a region with one thread.
    task: *mut Task,
    /// The innermost group of tasks that the current task has begun.
    group: *mut Group,
    /// Whether it has executed a task of the team.
    was_busy: bool,
}

impl Context {
    /// Whether several threads execute the region.
    pub fn is_parallel(&self) -> bool {
        !self.team.is_null()
    }

    /// Number of threads of the region.
    pub fn size(&self) -> u32 {
        // SAFETY: the team exists as long as its region.
        if self.is_parallel() { unsafe { (*self.team).size } } else { 1 }
    }

    /// The context of a region with one thread inside of this one.
    fn alone(&self) -> Context {
        Context {
            team: core::ptr::null_mut(),
            number: 0,
            level: self.level + 1,
            constructs: 0,
            work: Loop::NONE,
            task: core::ptr::null_mut(),
            group: core::ptr::null_mut(),
            was_busy: false,
        }
    }
}

/// Size of the memory of a [`Member`]. New memory is zero, which is the state of a thread that has not
/// used OpenMP.
const PAGE: usize = 4096;
const _: () = assert!(size_of::<Member>() <= PAGE);

/// The OpenMP state of the current thread; `None` if there is no memory.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn member(slot: *mut ThreadSlot) -> Option<&'static mut Member> {
    // SAFETY: the slot is the current thread's. Only its thread uses the result, until the thread ends.
    unsafe {
        let own = thread::own(slot);
        if (*own).omp == 0 {
            (*own).omp = sys::map_private(PAGE)?;
        }
        Some(&mut *((*own).omp as *mut Member))
    }
}

/// Runs `f` as a region with one thread.
///
/// # Safety
/// `member` is the current thread's.
pub unsafe fn alone(member: *mut Member, f: impl FnOnce()) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let outer = (*member).now;
        (*member).now = outer.alone();
        f();
        (*member).now = outer;
    }
}

/// Begins a region with one thread, whose end is another call.
///
/// # Safety
/// `member` is the current thread's.
pub unsafe fn descend(member: *mut Member) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (*member).depth < DEEPEST {
            let outer = (*member).now;
            (*member).outer[(*member).depth] = outer;
            (*member).now = outer.alone();
        }
        (*member).depth += 1;
    }
}

/// Ends such a region.
///
/// # Safety
/// `member` is the current thread's.
pub unsafe fn ascend(member: *mut Member) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*member).depth = (*member).depth.saturating_sub(1);
        if (*member).depth < DEEPEST {
            (*member).now = (*member).outer[(*member).depth];
        }
    }
}

/// The thread ends: so do its workers.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn retire(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let member = (*thread::own(slot)).omp as *mut Member;
        if !member.is_null() && !(*member).crew.is_null() {
            team::dismiss(slot, (*member).crew);
        }
    }
}
