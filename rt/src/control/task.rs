//! What the scheduler knows of each thread.
//!
//! Tasks are changed under the scheduler's lock ([`super::turn::locked`]); who has the turn may
//! read its own without.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use norn_abi::{
    Kind,
    arena::{THREADS, ThreadSlot},
};

use super::spin::Watch;
use crate::thread;

/// No deadline.
pub const NEVER: u64 = u64::MAX;
/// The entry of a thread that the schedule does not name.
pub const UNNAMED: u32 = u32::MAX;

/// Whether a wait was interrupted by a signal handler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    No,
    /// And calls that can be made again are.
    Restarts,
    /// And calls fail.
    Fails,
}

/// One thread, as the scheduler sees it.
pub struct Task {
    /// Its slot; null for a task that is nobody's.
    pub slot: *mut ThreadSlot,
    /// It has not ended.
    pub alive: bool,
    /// It cannot go on before something happens.
    pub waiting: bool,
    /// It waits for something outside of the program, so it must look again from time to time.
    pub outside: bool,
    /// It waited for something outside, and has not looked yet whether that has come.
    pub looks: bool,
    /// It is in code that we do not see, and runs without the turn.
    pub away: bool,
    /// It lets others go first, and has not come to its next event.
    pub between: bool,
    /// Handlers of signals that run on it now; they run even while it waits.
    pub handlers: u32,
    /// The time at which it goes on in any case.
    pub deadline: u64,
    /// It went on because of the time.
    pub timed_out: bool,
    /// When that was, in the order of waiting; 0 if it is noted in the trace.
    pub expired: u64,
    /// A signal handler has run while it waited.
    pub interrupted: Interrupted,
    /// Someone wants it to end.
    pub cancelled: bool,
    /// What it waits for or is about to do: what, on what, where.
    pub kind: Kind,
    pub object: usize,
    pub pc: usize,
    /// In which order tasks began to wait.
    pub ticket: u64,
    /// Events that it had done when it got the turn.
    pub since: u64,
    /// Of them, those that were counted when it last gave the turn back.
    pub counted: u64,
    /// Events that it has done when its turn is over.
    pub until: u64,
    /// For strategies that order threads: higher goes first.
    pub priority: u64,
    /// Its entry among the schedule's names.
    pub entry: u32,
    /// Whether it spins.
    pub spin: Watch,
    /// 1 while it has the turn; it sleeps on this.
    pub turn: AtomicU32,
    /// It sleeps, or is about to.
    pub asleep: AtomicBool,
}

#[allow(clippy::declare_interior_mutable_const, reason = "each task is a copy")]
const NOBODY: Task = Task {
    slot: core::ptr::null_mut(),
    alive: false,
    waiting: false,
    outside: false,
    looks: false,
    away: false,
    between: false,
    handlers: 0,
    deadline: NEVER,
    timed_out: false,
    expired: 0,
    interrupted: Interrupted::No,
    cancelled: false,
    kind: Kind::Read1,
    object: 0,
    pc: 0,
    ticket: 0,
    since: 0,
    counted: 0,
    until: 0,
    priority: 0,
    entry: UNNAMED,
    spin: Watch::NEW,
    turn: AtomicU32::new(0),
    asleep: AtomicBool::new(false),
};

struct Tasks(core::cell::UnsafeCell<[Task; THREADS]>);

// SAFETY: changed under the scheduler's lock only.
unsafe impl Sync for Tasks {}

static TASKS: Tasks = Tasks(core::cell::UnsafeCell::new([NOBODY; THREADS]));
/// Tasks that were ever used.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Task {
    /// Whether it could go on if it had the turn.
    pub fn is_ready(&self) -> bool {
        self.alive && !self.away && (!self.waiting || self.handlers > 0)
    }

    /// Whether it waits for a time, and only that time must come.
    pub fn is_timed(&self) -> bool {
        self.alive && !self.away && self.waiting && self.handlers == 0 && self.deadline != NEVER
    }

    /// Whether the time of its wait has run out, and it has not gone on since.
    pub fn is_expired(&self) -> bool {
        self.timed_out && !self.waiting
    }

    /// What its next event is about. Who waits for a condition, or just did, will next take the
    /// mutex again.
    pub fn class(&self) -> u32 {
        match self.kind {
            Kind::Wait => Kind::WaitAcquire.class(),
            kind => kind.class(),
        }
    }

    /// Whether it waits in the middle of nowhere: what it will do next is not known yet.
    pub fn is_between(&self) -> bool {
        let between = self.outside || matches!(self.kind, Kind::Sleep | Kind::Futex);
        self.away || self.between || self.waiting && between
    }

    /// Its thread's number.
    pub fn number(&self) -> u32 {
        // SAFETY: the slot lives as long as the arena.
        unsafe { (*self.slot).head.thread }
    }

    /// Events that its thread has done.
    pub fn steps(&self) -> u64 {
        // SAFETY: as above; only ever wrong by what its thread does at this moment.
        unsafe { (&raw const (*self.slot).steps).read_volatile() }
    }

    /// Has the turn until it is over; or until the next event, if each must be looked at.
    pub fn go_on(&mut self) {
        let next = if self.spin.is_watched() { self.steps() + 1 } else { self.until };
        // SAFETY: the slot lives as long as the arena.
        unsafe { (*self.slot).stop_at.store(next.min(self.until), Ordering::Relaxed) };
    }

    /// It need not wait any longer.
    pub fn release(&mut self) {
        self.looks = self.outside && !self.timed_out;
        (self.waiting, self.outside, self.deadline) = (false, false, NEVER);
    }
}

/// The task of the thread that a slot belongs to. Handlers belong to the thread they interrupt.
pub unsafe fn of(slot: *mut ThreadSlot) -> &'static mut Task {
    // SAFETY: the slots are the current thread's, or the caller has the scheduler's lock.
    unsafe {
        let mut root = slot;
        while !(*thread::own(root)).host.is_null() {
            root = (*thread::own(root)).host;
        }
        &mut *(*thread::own(root)).task
    }
}

/// The number of a task: the same in every run that takes the same course.
pub fn number(task: &Task) -> usize {
    (&raw const *task as usize - TASKS.0.get() as usize) / size_of::<Task>()
}

/// All tasks that were ever used.
pub unsafe fn all() -> &'static mut [Task] {
    // SAFETY: the caller has the scheduler's lock.
    unsafe {
        let first = TASKS.0.get().cast::<Task>();
        core::slice::from_raw_parts_mut(first, COUNT.load(Ordering::Relaxed))
    }
}

/// A task for a new thread: the first that is nobody's. Slots are freed by the recorder, at times
/// that differ from run to run, so their numbers will not do.
pub unsafe fn adopt(slot: *mut ThreadSlot) -> Option<&'static mut Task> {
    // SAFETY: the caller has the scheduler's lock, and the slot is nobody else's.
    unsafe {
        let free = all().iter().position(|it| !it.alive).unwrap_or(all().len());
        if free == THREADS {
            return None;
        }
        COUNT.fetch_max(free + 1, Ordering::Relaxed);
        let task = &mut all()[free];
        (*thread::own(slot)).task = task;
        // Field by field: a whole one would be copied by `memcpy`, which is one of ours.
        (task.slot, task.alive, task.away, task.handlers) = (slot, true, false, 0);
        (task.timed_out, task.cancelled, task.interrupted) = (false, false, Interrupted::No);
        (task.kind, task.object, task.pc) = (Kind::Begin, 0, 0);
        (task.since, task.counted, task.until) = (0, 0, 0);
        task.between = false;
        (task.priority, task.entry) = (0, UNNAMED);
        task.spin.reset();
        task.release();
        task.looks = false;
        task.turn.store(0, Ordering::Relaxed);
        task.asleep.store(false, Ordering::Relaxed);
        Some(task)
    }
}
