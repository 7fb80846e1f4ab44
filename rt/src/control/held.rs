//! The locks that each controlled thread holds, as far as the runtime saw them being taken.
//!
//! libc knows the owner of a mutex and the writer of a read-write lock, but not its readers, nor the
//! owner of a spin lock, nor all locks of a thread. Each task has a small table. Only its own thread
//! changes it, while it has the turn; others read it while they have the turn.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use norn_abi::LockClass;
use norn_sched::{TASKS, TaskId};

/// Maximum number of different locks of one thread. Of a thread that ever held more, nothing is
/// claimed.
const HOLDS: usize = 16;

/// The locks of one thread.
struct Row {
    holds: [Hold; HOLDS],
    /// The thread took a lock for which there was no room.
    overflowed: AtomicBool,
}

/// A lock that a thread holds; 0 if the entry is free.
struct Hold {
    lock: AtomicUsize,
    /// How often the thread has taken it.
    depth: AtomicU32,
    class: AtomicU32,
}

static ROWS: [Row; TASKS] = [const {
    Row {
        holds: [const {
            Hold { lock: AtomicUsize::new(0), depth: AtomicU32::new(0), class: AtomicU32::new(0) }
        }; HOLDS],
        overflowed: AtomicBool::new(false),
    }
}; TASKS];

fn row(task: TaskId) -> &'static Row {
    // Ids are below the length; the remainder lets the compiler omit the bounds check.
    &ROWS[task.index() % TASKS]
}

impl Row {
    fn find(&self, lock: usize) -> Option<&Hold> {
        self.holds.iter().find(|it| it.lock.load(Relaxed) == lock)
    }
}

/// A task gets a new thread, which holds nothing.
pub fn clear(task: TaskId) {
    let row = row(task);
    row.overflowed.store(false, Relaxed);
    row.holds.iter().for_each(|it| it.lock.store(0, Relaxed));
}

/// In a forked child: its only thread still holds what it held as a thread of the parent.
pub fn inherit(from: TaskId, to: TaskId) {
    if from == to {
        return;
    }
    clear(to);
    row(to).overflowed.store(row(from).overflowed.load(Relaxed), Relaxed);
    for (new, old) in row(to).holds.iter().zip(&row(from).holds) {
        new.depth.store(old.depth.load(Relaxed), Relaxed);
        new.class.store(old.class.load(Relaxed), Relaxed);
        new.lock.store(old.lock.load(Relaxed), Relaxed);
    }
    clear(from);
}

/// A thread has taken a lock, perhaps once more.
pub fn take(task: TaskId, lock: usize, class: LockClass) {
    let row = row(task);
    if let Some(hold) = row.find(lock) {
        hold.depth.fetch_add(1, Relaxed);
        return;
    }
    let Some(free) = row.find(0) else { return row.overflowed.store(true, Relaxed) };
    free.depth.store(1, Relaxed);
    free.class.store(class as u32, Relaxed);
    free.lock.store(lock, Relaxed);
}

/// A thread releases a lock once. Returns whether it held it.
pub fn give(task: TaskId, lock: usize) -> bool {
    let Some(hold) = row(task).find(lock) else { return false };
    if hold.depth.fetch_sub(1, Relaxed) == 1 {
        hold.lock.store(0, Relaxed);
    }
    true
}

/// How a thread holds a lock, if it does.
pub fn class(task: TaskId, lock: usize) -> Option<LockClass> {
    row(task).find(lock).map(|it| LockClass::of(it.class.load(Relaxed).into()))
}

/// Whether the table of a thread has all its locks.
pub fn is_complete(task: TaskId) -> bool {
    !row(task).overflowed.load(Relaxed)
}

/// The locks of a thread.
pub fn all(task: TaskId) -> impl Iterator<Item = (usize, LockClass)> {
    let holds = row(task).holds.iter();
    let known = |it: &Hold| (it.lock.load(Relaxed), LockClass::of(it.class.load(Relaxed).into()));
    holds.map(known).filter(|it| it.0 != 0)
}

/// A new object is made at this address: no thread holds it.
pub fn forget(tasks: impl Iterator<Item = TaskId>, lock: usize) {
    for hold in tasks.filter_map(|it| row(it).find(lock)) {
        hold.lock.store(0, Relaxed);
    }
}
