//! Locks that a program implements itself, in code with hooks: those that it describes by annotations, and
//! those of Rust's crates.
//!
//! Accesses and atomic operations in the code of such a lock are not recorded: it is known what they mean. A
//! controlled run must not let a thread enter that code while another thread
//! holds the lock: it would spin there, or sleep in a way that the scheduler does not see. So the runtime
//! notes who holds which of these locks ([`HELD`]), and a thread waits in the scheduler before it enters
//! the code. A deadlock of such locks is then found like one of mutexes. What excludes the threads is the lock itself.

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};

use norn_abi::{
    Kind, LockClass,
    arena::ThreadSlot,
    lock::{QUEUED, TRY},
};

use crate::{
    control::{self, NEVER},
    event,
    intercept::ignore,
    sys,
    thread::own,
};

/// The reason why a lock was not acquired at once.
pub const BUSY: u64 = 16;

/// How a lock is taken.
#[derive(Clone, Copy)]
pub struct Manner {
    pub shared: bool,
    /// It is a lock for readers and writers.
    pub read_write: bool,
    /// A thread that holds the lock exclusively can take it again.
    pub recursive: bool,
    /// A reader waits while a writer waits.
    pub writers_first: bool,
}

/// A lock that is held, or that writers wait for.
#[derive(Clone, Copy)]
struct Hold {
    /// 0 if the entry is free.
    lock: usize,
    /// The slot of the thread that holds it exclusively, or that is about to; 0 if none.
    writer: usize,
    /// In a controlled run: the call before the lock was taken exclusively. The scheduler decided there,
    /// so it is the site of the event.
    pc: usize,
    depth: u32,
    readers: u32,
    /// Number of writers that wait and have precedence.
    waiting: u32,
}

const NONE: Hold = Hold { lock: 0, writer: 0, pc: 0, depth: 0, readers: 0, waiting: 0 };

/// Maximum number of these locks that are held at once. If there are more, threads may spin in the
/// code of the lock.
pub const MOST: usize = 1024;

/// The locks that are held.
struct Table {
    busy: AtomicBool,
    holds: UnsafeCell<[Hold; MOST]>,
}

// SAFETY: the entries are accessed only by the thread that has set `busy`.
unsafe impl Sync for Table {}

static HELD: Table = Table { busy: AtomicBool::new(false), holds: UnsafeCell::new([NONE; MOST]) };

impl Table {
    /// Runs `f` with the entry of a lock, which may be new; with none if there are too many. An entry
    /// that `f` leaves unheld becomes free.
    fn with<T>(&self, lock: usize, f: impl FnOnce(&mut Hold) -> T) -> Option<T> {
        while self.busy.swap(true, Ordering::Acquire) {
            sys::yield_now();
        }
        // SAFETY: `busy` is set.
        let holds = unsafe { &mut *self.holds.get() };
        let found = holds.iter().position(|it| it.lock == lock);
        let entry = found.or_else(|| holds.iter().position(|it| it.lock == 0));
        let result = entry.and_then(|it| holds.get_mut(it)).map(|hold| {
            hold.lock = lock;
            let result = f(hold);
            if hold.writer == 0 && hold.readers == 0 && hold.waiting == 0 {
                *hold = NONE;
            }
            result
        });
        self.busy.store(false, Ordering::Release);
        result
    }
}

/// Reserves a lock for a thread that is about to take it. False if it has to wait.
fn reserve(lock: usize, slot: *mut ThreadSlot, manner: Manner, pc: usize) -> bool {
    let slot = slot as usize;
    let reserved = HELD.with(lock, |hold| {
        if hold.writer == slot && manner.recursive {
            hold.pc = pc;
            return true;
        }
        let free = hold.writer == 0
            && if manner.shared {
                !(manner.writers_first && hold.waiting > 0)
            } else {
                hold.readers == 0
            };
        if free && !manner.shared {
            (hold.writer, hold.pc) = (slot, pc);
        }
        free
    });
    reserved.unwrap_or(true)
}

/// Reserves a lock for a reader that becomes a writer. False if there are other readers.
fn reserve_upgrade(lock: usize, slot: *mut ThreadSlot, pc: usize) -> bool {
    let reserved = HELD.with(lock, |hold| {
        let alone = hold.writer == 0 && hold.readers <= 1;
        if alone {
            (hold.writer, hold.readers, hold.pc) = (slot as usize, 0, pc);
        }
        alone
    });
    reserved.unwrap_or(true)
}

/// Waits in a controlled run until the lock can be taken.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the thread has asked the scheduler.
pub unsafe fn wait_for(lock: usize, slot: *mut ThreadSlot, manner: Manner, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until(lock, slot, (manner, pc), || reserve(lock, slot, manner, pc)) };
}

/// Waits in a controlled run until the readers other than this thread have gone.
///
/// # Safety
/// As for [`wait_for`]; the thread is a reader.
pub unsafe fn wait_for_readers(lock: usize, slot: *mut ThreadSlot, manner: Manner, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until(lock, slot, (manner, pc), || reserve_upgrade(lock, slot, pc)) };
}

/// # Safety
/// As for [`wait_for`].
unsafe fn wait_until(
    lock: usize,
    slot: *mut ThreadSlot,
    (manner, pc): (Manner, usize),
    is_reserved: impl Fn() -> bool,
) {
    let has_precedence = manner.writers_first && !manner.shared;
    let mut is_announced = false;
    while control::is_on() && !is_reserved() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if has_precedence && !is_announced {
                // From now on readers wait for this thread. That is an event, so that schedules can
                // determine its order.
                is_announced = true;
                announce(lock);
                event::note(slot, Kind::AcquireFailed, pc, lock, &[class(manner, true), BUSY]);
                control::before(slot, Kind::Acquire, pc, lock);
            } else {
                control::block(slot, Kind::Acquire, lock, pc, NEVER);
            }
        }
    }
    if is_announced {
        withdraw(lock);
    }
}

/// Notes that a writer waits for a lock, and has precedence.
pub fn announce(lock: usize) {
    HELD.with(lock, |hold| hold.waiting += 1);
}

/// Notes that a writer that had precedence waits no more.
pub fn withdraw(lock: usize) {
    HELD.with(lock, |hold| hold.waiting = hold.waiting.saturating_sub(1));
}

/// Whether a writer waits for a lock, and has precedence.
pub fn is_announced(lock: usize) -> bool {
    HELD.with(lock, |hold| hold.waiting > 0).unwrap_or(false)
}

/// Notes that a thread has taken a lock, `times` times. Returns the site at which the scheduler decided
/// that, if it did.
pub fn taken(lock: usize, slot: *mut ThreadSlot, shared: bool, times: u32) -> Option<usize> {
    let pc = HELD.with(lock, |hold| {
        let pc = core::mem::take(&mut hold.pc);
        if shared {
            hold.readers += times;
        } else {
            hold.depth = if hold.writer == slot as usize { hold.depth + times } else { times };
            hold.writer = slot as usize;
        }
        pc
    });
    pc.filter(|it| *it != 0)
}

/// Notes that a thread has released a lock.
pub fn given_up(lock: usize, shared: bool, times: u32) {
    HELD.with(lock, |hold| {
        if shared {
            hold.readers = hold.readers.saturating_sub(times);
        } else {
            hold.depth = hold.depth.saturating_sub(times);
            if hold.depth == 0 {
                hold.writer = 0;
            }
        }
    });
    control::release(Kind::Acquire, lock);
}

/// How often a thread holds a lock exclusively.
pub fn depth(lock: usize, slot: *mut ThreadSlot) -> u32 {
    let depth = HELD.with(lock, |hold| (hold.writer == slot as usize).then_some(hold.depth));
    depth.flatten().unwrap_or(1).max(1)
}

/// The class of a lock, as it is recorded.
pub fn class(manner: Manner, tries: bool) -> u64 {
    let class = match () {
        () if manner.shared => LockClass::Read,
        () if manner.read_write => LockClass::Write,
        () => LockClass::Mutex,
    };
    class as u64 | if tries { TRY } else { 0 }
}

/// The same for a request, which also says what a reader waits for.
pub fn request(manner: Manner, tries: bool) -> u64 {
    let queued = manner.shared && manner.writers_first && !tries;
    class(manner, tries) | if queued { QUEUED } else { 0 }
}

/// Whether a thread is in the code of a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn is_inside(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe { (*own(slot)).lock_code > 0 }
}

/// Enters the code of a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn enter(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*own(slot)).lock_code = (*own(slot)).lock_code.saturating_add(1);
        ignore::begin(slot);
    }
}

/// Leaves the code of a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn leave(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*own(slot)).lock_code = (*own(slot)).lock_code.saturating_sub(1);
        ignore::end(slot);
    }
}
