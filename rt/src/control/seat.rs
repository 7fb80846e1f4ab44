//! The words of a task that threads touch without the scheduler's lock: the one that its thread
//! sleeps on, and the counters in its slot.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use norn_abi::arena::{Head, ThreadSlot};
use norn_sched::{TASKS, TaskId};

use crate::{sys, thread};

/// What belongs to one task.
pub struct Seat {
    /// The slot of its thread; null while it is no thread's.
    slot: AtomicPtr<ThreadSlot>,
    /// 1 while it has the turn; its thread sleeps on this.
    pub turn: AtomicU32,
    /// Its thread sleeps, or is about to.
    pub asleep: AtomicBool,
}

static SEATS: [Seat; TASKS] = [const {
    Seat {
        slot: AtomicPtr::new(core::ptr::null_mut()),
        turn: AtomicU32::new(0),
        asleep: AtomicBool::new(false),
    }
}; TASKS];

/// The words of a task.
pub fn of(task: TaskId) -> &'static Seat {
    // Ids are below the length; the remainder lets the compiler see that.
    &SEATS[task.index() % TASKS]
}

/// Gives a task to the thread of a slot.
///
/// # Safety
/// The slot is named and no other thread's, and the caller holds the scheduler's lock.
pub unsafe fn assign(task: TaskId, slot: *mut ThreadSlot) {
    let seat = of(task);
    seat.slot.store(slot, Ordering::Relaxed);
    seat.turn.store(0, Ordering::Relaxed);
    seat.asleep.store(false, Ordering::Relaxed);
    // SAFETY: as the caller says.
    unsafe { (*thread::own(slot)).task = Some(task) };
}

/// The task of the thread that a slot belongs to. Signal handlers have slots of their own and belong
/// to the thread that they interrupt.
///
/// # Safety
/// The slot is the current thread's and no stand, or that of a thread that does not run yet.
pub unsafe fn task_of(slot: *mut ThreadSlot) -> Option<TaskId> {
    // SAFETY: as the caller says; the slots of nested handlers are the current thread's, too.
    unsafe {
        let mut root = slot;
        while !(*thread::own(root)).host.is_null() {
            root = (*thread::own(root)).host;
        }
        (*thread::own(root)).task
    }
}

impl Seat {
    /// The slot of the task's thread.
    fn slot(&self) -> *mut ThreadSlot {
        self.slot.load(Ordering::Relaxed)
    }

    /// Events that its thread has done. If that thread runs, the number may be one that is just
    /// passing.
    pub fn steps(&self) -> u64 {
        // SAFETY: a task that was ever used has a slot, which lives as long as the arena.
        unsafe { (&raw const (*self.slot()).steps).read_volatile() }
    }

    /// How many events there were when its thread last changed anything that others can see.
    pub fn effect(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (&raw const (*self.slot()).effect).read_volatile() }
    }

    /// At which count of its events its thread asks the scheduler.
    pub fn stop_at(&self) -> &'static AtomicU64 {
        // SAFETY: as above.
        unsafe { &(*self.slot()).stop_at }
    }

    /// Who its thread is.
    fn head(&self) -> *const Head {
        // SAFETY: as above.
        unsafe { &raw const (*self.slot()).head }
    }

    /// The kernel's id of its thread; 0 until it runs.
    pub fn tid(&self) -> u32 {
        // SAFETY: as above; its thread writes this before it waits for its first turn.
        unsafe { (&raw const (*self.head()).tid).read_volatile() }
    }

    /// The number of its thread.
    pub fn thread(&self) -> u32 {
        // SAFETY: as above; it does not change while the slot is the thread's.
        unsafe { (*self.head()).thread }
    }

    /// Has the turn, or runs freely: its thread wakes if it sleeps.
    pub fn wake(&self) {
        self.turn.store(1, Ordering::SeqCst);
        sys::futex_wake(self.turn.as_ptr());
    }
}
