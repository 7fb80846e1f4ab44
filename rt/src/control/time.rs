//! The clock of a controlled run. It does not follow the world's: it advances a little with every
//! event and every look at it, and jumps forward when nobody can go on before some time. So a run
//! waits for nothing, and the same schedule sees the same times.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    spin, strategy,
    task::{self, NEVER, Task},
    turn,
};
use crate::{arena, number};

/// How much time an event takes.
const EVENT: u64 = 100;
/// How much time a look at the clock takes.
const LOOK: u64 = 1_000;
/// Who waits for files for longer than this gets an answer, or none, but not because others are slow.
const LONG: u64 = 1_000_000_000;
/// The clock of the time of day.
const REALTIME: i32 = 0;
/// Its coarse and other forms.
const REALTIME_COARSE: i32 = 5;
const TAI: i32 = 11;

/// Nanoseconds by which the clock was put forward, and that looking took.
static EXTRA: AtomicU64 = AtomicU64::new(0);

/// Tasks whose time has run out, and nobody has noted it yet.
static UNNOTED: AtomicU32 = AtomicU32::new(0);

/// Nanoseconds since the start.
pub fn now() -> u64 {
    EXTRA.load(Ordering::Relaxed) + turn::steps() * EVENT
}

/// What a clock says when the program looks at it.
pub fn read(clock: i32) -> u64 {
    EXTRA.fetch_add(LOOK, Ordering::Relaxed);
    spin::time_passes();
    start_of(clock) + now()
}

/// It is at least so late since the start.
pub fn reach(then: u64) {
    EXTRA.fetch_add(then.saturating_sub(now()), Ordering::Relaxed);
}

/// The time since the start at which a clock says `then`.
pub fn when(clock: i32, then: u64) -> u64 {
    then.saturating_sub(start_of(clock))
}

fn start_of(clock: i32) -> u64 {
    match clock {
        REALTIME | REALTIME_COARSE | TAI => arena::plan().realtime,
        _ => arena::plan().monotonic,
    }
}

/// Those whose time has come need not wait any longer, unless a schedule says who. Under the lock.
pub unsafe fn release_expired() {
    let now = now();
    // SAFETY: under the lock.
    unsafe {
        if strategy::lists_timeouts() {
            return;
        }
        for task in task::all() {
            if task.is_timed() && task.deadline <= now {
                expire(task);
            }
        }
    }
}

fn expire(task: &mut Task) {
    task.timed_out = true;
    task.expired = turn::ticket();
    UNNOTED.fetch_add(1, Ordering::Relaxed);
    task.release();
}

/// Notes whose time has run out since somebody last had the turn: in the trace of the thread that
/// has it now, before whatever it does. Whether there was anything to note.
pub unsafe fn note_expired(slot: *mut ThreadSlot) -> bool {
    if UNNOTED.load(Ordering::Relaxed) == 0 {
        return false;
    }
    // SAFETY: the lock is held inside, and the slot is the current thread's.
    unsafe {
        while let Some(thread) = turn::locked(|| take_expired()) {
            if arena::make_room(slot) {
                let number = number::next(slot);
                (*slot).lane.sync(Kind::Expired, 0, thread as usize, number, &[]);
            }
        }
    }
    true
}

/// The number of the thread whose time was the first to run out. Under the lock.
unsafe fn take_expired() -> Option<u32> {
    // SAFETY: under the lock.
    let tasks = unsafe { task::all() };
    let first = tasks.iter_mut().filter(|it| it.expired != 0).min_by_key(|it| it.expired)?;
    first.expired = 0;
    UNNOTED.fetch_sub(1, Ordering::Relaxed);
    Some(first.number())
}

/// The task that waits for the time that comes first. Under the lock.
unsafe fn first() -> Option<&'static mut Task> {
    // SAFETY: under the lock.
    let timed = unsafe { task::all() }.iter_mut().filter(|it| it.is_timed());
    timed.min_by_key(|it| (it.deadline, it.ticket))
}

/// Whether the clock may be put forward while others could go on: a sleep or a wait for another
/// thread may end before they have done anything. But the time that a program gives its peers to
/// answer, it means to be enough for what they have to do. Under the lock.
pub unsafe fn may_be_early() -> bool {
    // SAFETY: under the lock.
    let first = unsafe { first() };
    first.is_some_and(|it| !it.outside || it.deadline.saturating_sub(now()) <= LONG)
}

/// Puts the clock forward to the first time for which somebody waits. Under the lock.
pub unsafe fn put_forward() {
    // SAFETY: under the lock.
    if let Some(task) = unsafe { first() } {
        put_forward_to(task);
    }
}

/// Puts the clock forward until the time of `task` has come. Under the lock.
pub fn put_forward_to(task: &mut Task) {
    if task.deadline != NEVER {
        EXTRA.fetch_add(task.deadline.saturating_sub(now()), Ordering::Relaxed);
    }
    expire(task);
}
