//! Threads that spin: they read the same things again and again and change nothing, so that only
//! another thread can get them on. They are recognised and not chosen while others can run.
//!
//! A thread that has not changed anything for a while is watched event by event. If it comes back
//! to the same event, and all that it saw since the last time is what it had seen the time before,
//! it spins. When another thread has changed something, it may look once more: one round, unless
//! what it sees is new. To watch is slow: if nothing comes of it, one waits twice as long before
//! the thread is watched again.

use core::sync::atomic::{AtomicU64, Ordering};

use norn_abi::{Kind, arena::ThreadSlot};

use super::task::{self, Task};

/// Events without a change after which a thread is watched: at first, and at most.
const SUSPICIOUS: u64 = 256;
const MOST_PATIENT: u64 = 1 << 14;
/// Events in which a round must be over; else the round is looked for anew, at another event.
const LONGEST_ROUND: u32 = 64;
/// Equal rounds that make it a spin.
const ROUNDS: u32 = 3;
/// Events for which a thread is watched before that is given up: the anchor may be one that does not
/// come again, so there is time for another one.
const WATCHED: u64 = 2 * (ROUNDS as u64 + 1) * LONGEST_ROUND as u64;
/// Events of pure spinning after which nobody is expected to go on.
const HOPELESS: u64 = 200_000;
/// Events of pure spinning after which it need not be another one who looks each time.
const STALE: u64 = 2_000;

/// What is known of a thread's spinning.
pub struct Watch {
    /// Where rounds begin: place and address.
    anchor: (usize, usize),
    /// A hash of what was seen in this round, and in the last.
    round: u64,
    last: u64,
    events: u32,
    equal: u32,
    watched: bool,
    /// Events without a change when it began to be watched, or was given up.
    since: u64,
    /// Events without a change after which it is watched.
    patience: u64,
    spins: bool,
    /// It said itself that others should go first.
    yields: bool,
    /// How many changes there had been when it was last found spinning.
    changes: u64,
}

impl Watch {
    pub const NEW: Watch = Watch {
        anchor: (0, 0),
        round: 0,
        last: 0,
        events: 0,
        equal: 0,
        watched: false,
        since: 0,
        patience: SUSPICIOUS,
        spins: false,
        yields: false,
        changes: 0,
    };

    /// For a new thread.
    pub fn reset(&mut self) {
        self.forget();
        (self.yields, self.since, self.patience) = (false, 0, SUSPICIOUS);
    }

    /// It is not watched any longer.
    fn forget(&mut self) {
        (self.anchor, self.round, self.last) = ((0, 0), 0, 0);
        (self.events, self.equal, self.changes) = (0, 0, 0);
        (self.watched, self.spins) = (false, false);
    }

    /// The thread has done so many events since it last changed something. Whether it is watched.
    fn is_suspicious(&mut self, quiet: u64) -> bool {
        if quiet < self.since {
            // It has changed something meanwhile.
            self.forget();
            self.since = 0;
        }
        if !self.watched && quiet - self.since >= self.patience {
            (self.watched, self.since) = (true, quiet);
        } else if self.watched && self.spins {
            (self.patience, self.since) = (SUSPICIOUS, quiet);
        } else if self.watched && quiet - self.since >= WATCHED {
            self.forget();
            self.since = quiet;
            self.patience = (2 * self.patience).min(MOST_PATIENT);
        }
        self.watched
    }

    /// Whether others should go first.
    pub fn is_idle(&self) -> bool {
        self.yields || self.spins()
    }

    /// Whether it spins, and nothing has changed since.
    pub fn spins(&self) -> bool {
        self.spins && self.changes == CHANGES.load(Ordering::Relaxed)
    }

    /// Whether each of its events must be looked at.
    pub fn is_watched(&self) -> bool {
        self.watched
    }

    /// It asks that others go first.
    pub fn yields(&mut self) {
        self.yields = true;
    }
}

/// Counts the turns in which something was changed.
static CHANGES: AtomicU64 = AtomicU64::new(1);
/// Events since something was changed, when somebody last looked.
static FRUITLESS: AtomicU64 = AtomicU64::new(0);
static FRUITLESS_AT: AtomicU64 = AtomicU64::new(0);

/// The thread comes to an event. Decides whether it is watched, and whether it spins.
pub unsafe fn look(slot: *mut ThreadSlot, task: &mut Task) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if !task.spin.is_suspicious((*slot).steps - (*slot).effect) {
            return;
        }
        let seen = if task.kind.as_access().is_some() || is_atomic(task.kind) {
            norn_abi::peek::word(task.object).unwrap_or(0)
        } else {
            0
        };
        step(&mut task.spin, (task.pc, task.object), seen);
    }
}

fn is_atomic(kind: Kind) -> bool {
    matches!(kind, Kind::AtomicLoad | Kind::AtomicRmw | Kind::AtomicCas)
}

fn step(watch: &mut Watch, at: (usize, usize), seen: u64) {
    if at == watch.anchor && watch.events > 0 {
        let same = watch.round == watch.last;
        watch.equal = if same { watch.equal + 1 } else { 0 };
        (watch.last, watch.round, watch.events) = (watch.round, 0, 0);
        if watch.equal >= ROUNDS {
            watch.spins = true;
            watch.changes = CHANGES.load(Ordering::Relaxed);
        }
    } else if watch.events == 0 && watch.anchor != at || watch.events >= LONGEST_ROUND {
        (watch.anchor, watch.round, watch.last) = (at, 0, 0);
        (watch.events, watch.equal, watch.spins) = (0, 0, false);
    }
    watch.events += 1;
    let word = (at.0 as u64).rotate_left(32) ^ at.1 as u64 ^ seen.rotate_left(17);
    watch.round = (watch.round ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
}

/// A turn is over: whether its thread changed anything. Others that yielded have had their wish.
pub unsafe fn after_turn(last: usize) {
    // SAFETY: under the lock.
    let Some(task) = (unsafe { task::all() }).get_mut(last) else { return };
    if task.slot.is_null() {
        return;
    }
    // SAFETY: the slot lives as long as the arena.
    let changed = unsafe { (*task.slot).effect > task.since };
    if changed {
        CHANGES.fetch_add(1, Ordering::Relaxed);
        FRUITLESS_AT.store(super::turn::steps(), Ordering::Relaxed);
    }
    let worked = task.steps() > task.since && !task.spin.yields;
    // SAFETY: under the lock.
    for (number, other) in unsafe { task::all() }.iter_mut().enumerate() {
        if worked && number != last {
            other.spin.yields = false;
        }
    }
    FRUITLESS.store(super::turn::steps() - FRUITLESS_AT.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Everybody who could run spins or yields. Whether they have done so for so long that they will
/// for ever.
pub unsafe fn is_hopeless() -> bool {
    // SAFETY: under the lock.
    for task in unsafe { task::all() } {
        task.spin.yields = false;
    }
    FRUITLESS.load(Ordering::Relaxed) > HOPELESS
}

/// Whether nothing has been changed for long.
pub fn is_in_vain() -> bool {
    FRUITLESS.load(Ordering::Relaxed) > STALE
}

/// Something else than a thread changes: the time.
pub fn time_passes() {
    FRUITLESS_AT.store(super::turn::steps(), Ordering::Relaxed);
}

/// Whether an event changes nothing that another thread could see.
pub fn is_fruitless(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::AtomicLoad
            | Kind::AtomicCasFailed
            | Kind::AcquireFailed
            | Kind::SemFailed
            | Kind::Fence
            | Kind::Yield
            | Kind::Sleep
            | Kind::RangeRead
            | Kind::OnceDone
            | Kind::Call
            | Kind::Return
            | Kind::Mark
            | Kind::RegionBegin
            | Kind::RegionEnd
    )
}
