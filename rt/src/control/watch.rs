//! Looks after the thread that has the turn. If it sleeps in code that we do not see, or works there
//! for long, the turn goes on without it.
//!
//! How long it works is measured in time that a processor spent on it: on a machine that is busy with
//! other things, a thread may stand still for as long as it likes. Only a sleep can be long or short
//! by the world's clock; so whenever the turn goes on without a thread, that is counted, and said.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{task::Task, verdict};
use crate::{arena, sys};

/// How long a thread sleeps before the turn goes on without it.
const ASLEEP: u64 = 20_000_000;
/// How long it works.
const BUSY: u64 = 1_000_000_000;
/// After how long without a look all were stopped, as in a debugger.
const STOPPED: u64 = 500_000_000;

/// When somebody last looked.
static LOOKED: AtomicU64 = AtomicU64::new(0);
/// Who had the turn then, and how many events there were.
static HOLDER: AtomicU64 = AtomicU64::new(0);
static EVENTS: AtomicU64 = AtomicU64::new(0);
/// What a processor had spent on it when it was first seen there.
static BEGUN: AtomicU64 = AtomicU64::new(0);
/// What a processor had spent on it when it was first seen asleep, and when that was.
static SPENT: AtomicU64 = AtomicU64::new(0);
static SINCE: AtomicU64 = AtomicU64::new(0);

/// Whether the turn is to go on without its holder, after so many events of all. Under the lock.
pub fn is_away(holder: &Task, events: u64) -> bool {
    // SAFETY: slots live as long as the arena.
    let tid = unsafe { (*holder.slot).head.tid };
    let name = u64::from(holder.number()) + 1;
    let now = sys::now(sys::MONOTONIC);
    let resumed = now - LOOKED.swap(now, Ordering::Relaxed) > STOPPED;
    let same = (HOLDER.swap(name, Ordering::Relaxed), EVENTS.swap(events, Ordering::Relaxed));
    // A thread that nothing is known of has not arrived yet; one that sleeps here is to wake.
    let spent = sys::spent(tid).filter(|_| !holder.asleep.load(Ordering::Relaxed));
    let Some(spent) = spent else {
        HOLDER.store(0, Ordering::Relaxed);
        return false;
    };
    let over = verdict::is_found() || is_dying(holder);
    let excused = over || arena::is_awaited() || sys::is_stopped(tid);
    if same != (name, events) || resumed || excused {
        BEGUN.store(spent, Ordering::Relaxed);
        sleeps_since(now, spent);
        return false;
    }
    if !sys::is_asleep(tid) || SPENT.load(Ordering::Relaxed) != spent {
        sleeps_since(now, spent);
    }
    spent - BEGUN.load(Ordering::Relaxed) > BUSY || now - SINCE.load(Ordering::Relaxed) > ASLEEP
}

/// Whether a signal has hit the thread that ends the program: nobody goes on after that.
fn is_dying(holder: &Task) -> bool {
    let outcome = arena::outcome();
    let hit = outcome.signal_thread.load(Ordering::Relaxed);
    outcome.signal.load(Ordering::Acquire) != 0 && hit == holder.number()
}

fn sleeps_since(now: u64, spent: u64) {
    SINCE.store(now, Ordering::Relaxed);
    SPENT.store(spent, Ordering::Relaxed);
}
