//! The state of the program apart from memory, which can be copied: the checker keeps it at some
//! points of an order that many schedules begin with.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{EventId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::heap::Heap;

/// A thread that holds a lock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hold {
    /// How many times.
    pub(crate) depth: u32,
    /// Whether in shared mode, by its first request.
    pub(crate) shared: bool,
    /// Whether its last request was for shared mode.
    pub(crate) reads: bool,
}

/// The state of the program at a point of a schedule, apart from memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// By thread: the index of its next event.
    pub(crate) positions: BTreeMap<ThreadId, u64>,
    /// By lock: the threads that hold it. A lock that no thread holds is absent.
    pub(crate) holders: FxHashMap<u64, BTreeMap<ThreadId, Hold>>,
    /// By thread: when it began to wait for a condition, and whether with a time limit.
    pub(crate) waits: FxHashMap<ThreadId, (u64, bool)>,
    /// By thread: when a condition wait released its mutex.
    pub(crate) wait_releases: FxHashMap<ThreadId, u64>,
    /// By condition: when signals came that ended no wait yet, and whether they are broadcasts.
    pub(crate) signals: FxHashMap<u64, BTreeSet<(u64, bool)>>,
    /// The number of events so far.
    pub(crate) time: u64,
    /// By barrier: the number of arrivals.
    pub(crate) arrivals: FxHashMap<u64, u64>,
    /// By barrier and thread: the round in which the thread arrived.
    pub(crate) rounds: FxHashMap<(u64, ThreadId), u64>,
    /// By semaphore: its value, relative to its initial one.
    pub(crate) semaphores: FxHashMap<u64, i64>,
    /// Once-only initialisations that are in progress, and those that are done.
    pub(crate) initialising: FxHashSet<u64>,
    pub(crate) initialised: FxHashSet<u64>,
    pub(crate) heap: Heap,
    /// By descriptor: the event that closed it last.
    pub(crate) closed: FxHashMap<u64, EventId>,
    /// Events that see something else than in the recorded run. For a read-modify-write the time,
    /// since it passes the difference on to other threads; 0 for all others.
    pub(crate) differing: Vec<(EventId, u64)>,
}

impl Snapshot {
    /// The index of a thread's next event.
    pub(crate) fn position(&self, thread: ThreadId) -> u64 {
        self.positions.get(&thread).copied().unwrap_or(0)
    }

    /// Drops signals that can end no wait any more: they came before every wait that has not ended.
    /// A program that signals without a waiting thread would fill the snapshots with them.
    pub(crate) fn forget_signals(&mut self) {
        let began = |(thread, (time, _)): (&ThreadId, &(u64, bool))| {
            self.wait_releases.get(thread).copied().unwrap_or(*time).min(*time)
        };
        // A thread that has released its mutex begins to wait with its next event.
        let first = self.waits.iter().map(began).chain(self.wait_releases.values().copied()).min();
        let first = first.unwrap_or(u64::MAX);
        self.signals.retain(|_, times| {
            *times = times.split_off(&(first, false));
            !times.is_empty()
        });
    }
}
