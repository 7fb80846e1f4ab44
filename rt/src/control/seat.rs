//! The words of a task that threads access without the scheduler's lock: the futex word that its
//! thread sleeps on, and the counters in its slot.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use norn_abi::arena::{Head, ThreadSlot};
use norn_sched::{TASKS, TaskId};

use crate::{sys, thread};

/// The words of one task.
pub struct Seat {
    /// The slot of its thread; null while the task has no thread.
    slot: AtomicPtr<ThreadSlot>,
    /// [`HAS_TURN`] while the task has the turn, [`HANDLES`] if its thread must call a signal
    /// handler; its thread sleeps on this word.
    pub turn: AtomicU32,
    /// The thread sleeps, or is about to.
    pub asleep: AtomicBool,
}

/// The task has the turn.
pub const HAS_TURN: u32 = 1;
/// The thread must call a signal handler, whose task has the turn.
pub const HANDLES: u32 = 2;

static SEATS: [Seat; TASKS] = [const {
    Seat {
        slot: AtomicPtr::new(core::ptr::null_mut()),
        turn: AtomicU32::new(0),
        asleep: AtomicBool::new(false),
    }
}; TASKS];

/// The words of a task.
pub fn of(task: TaskId) -> &'static Seat {
    // Ids are below the length; the remainder lets the compiler omit the bounds check.
    &SEATS[task.index() % TASKS]
}

/// Assigns a task to the thread of a slot.
///
/// # Safety
/// The slot is named and belongs to no other thread, and the caller holds the scheduler's lock.
pub unsafe fn assign(task: TaskId, slot: *mut ThreadSlot) {
    let seat = of(task);
    seat.slot.store(slot, Ordering::Relaxed);
    seat.turn.store(0, Ordering::Relaxed);
    seat.asleep.store(false, Ordering::Relaxed);
    // SAFETY: guaranteed by the caller.
    unsafe { (*thread::own(slot)).task = Some(task) };
}

/// The task of a slot: that of its thread, or that of the signal handlers whose stream it is.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, or that of a thread that does not run
/// yet.
pub unsafe fn task_of(slot: *mut ThreadSlot) -> Option<TaskId> {
    // SAFETY: guaranteed by the caller.
    unsafe { (*thread::own(slot)).task }
}

impl Seat {
    /// The slot of the task.
    pub fn slot(&self) -> *mut ThreadSlot {
        self.slot.load(Ordering::Relaxed)
    }

    /// Number of events of the task's thread. While that thread runs, the value may already be
    /// outdated.
    pub fn steps(&self) -> u64 {
        // SAFETY: a task that was ever used has a slot, which lives as long as the arena.
        unsafe { (&raw const (*self.slot()).steps).read_volatile() }
    }

    /// The event count at which its thread last made a change that other threads can observe.
    pub fn effect(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (&raw const (*self.slot()).effect).read_volatile() }
    }

    /// The event count at which its thread asks the scheduler.
    pub fn stop_at(&self) -> &'static AtomicU64 {
        // SAFETY: as above.
        unsafe { &(*self.slot()).stop_at }
    }

    /// The description of its thread.
    fn head(&self) -> *const Head {
        // SAFETY: as above.
        unsafe { &raw const (*self.slot()).head }
    }

    /// The kernel's id of its thread; 0 until the thread runs.
    pub fn tid(&self) -> u32 {
        // SAFETY: as above; the thread writes this before it waits for its first turn.
        unsafe { (&raw const (*self.head()).tid).read_volatile() }
    }

    /// The number of its thread.
    pub fn thread(&self) -> u32 {
        // SAFETY: as above; the number does not change while the slot belongs to the thread.
        unsafe { (*self.head()).thread }
    }

    /// Wakes the task's thread if it sleeps, because it has the turn or runs freely.
    pub fn wake(&self) {
        self.turn.store(HAS_TURN, Ordering::SeqCst);
        sys::futex_wake(self.turn.as_ptr());
    }
}
