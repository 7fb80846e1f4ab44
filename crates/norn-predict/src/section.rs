//! The ranges of events in which each thread holds each lock.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{lockset::LockSets, outline::Outline};

/// The range of events in which a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The event that acquires it.
    pub(crate) from: u32,
    /// The event that releases it; `None` if the trace has none.
    pub(crate) to: Option<u32>,
    /// Whether it is held in shared mode.
    pub(crate) shared: bool,
}

/// The holds of all threads.
#[derive(Debug)]
pub(crate) struct Sections {
    /// By thread and lock, in program order.
    threads: Vec<FxHashMap<u64, Vec<Hold>>>,
}

impl Sections {
    /// Scans the changes of the sets of held locks.
    pub(crate) fn new(outlines: &[Outline], sets: &LockSets) -> Sections {
        Sections { threads: outlines.par_iter().map(|it| holds(it, sets)).collect() }
    }

    /// The hold of a lock that contains an event.
    pub(crate) fn around(&self, thread: u16, lock: u64, index: u32) -> Option<Hold> {
        self.begun(thread, lock, index)
            .last()
            .copied()
            .filter(|it| it.to.is_none_or(|to| to > index))
    }

    /// The last hold of a lock that begins before an event and excludes a request in this mode.
    pub(crate) fn last(&self, thread: u16, lock: u64, index: u32, shared: bool) -> Option<Hold> {
        let mut begun = self.begun(thread, lock, index).iter().rev();
        begun.find(|it| !(shared && it.shared)).copied()
    }

    fn begun(&self, thread: u16, lock: u64, index: u32) -> &[Hold] {
        let holds = self.threads[usize::from(thread)].get(&lock).map_or(&[][..], Vec::as_slice);
        &holds[..holds.partition_point(|it| it.from <= index)]
    }
}

fn holds(outline: &Outline, sets: &LockSets) -> FxHashMap<u64, Vec<Hold>> {
    let mut all: FxHashMap<u64, Vec<Hold>> = FxHashMap::default();
    let mut last = 0;
    for (at, set) in outline.changes.iter().map(|it| (it.from, it.set)) {
        for &(lock, shared) in sets.locks(last).iter().filter(|it| !sets.locks(set).contains(it)) {
            let open = all.get_mut(&lock).and_then(|it| it.last_mut());
            open.into_iter().filter(|it| it.shared == shared).for_each(|it| it.to = Some(at));
        }
        for &(lock, shared) in sets.locks(set).iter().filter(|it| !sets.locks(last).contains(it)) {
            all.entry(lock).or_default().push(Hold { from: at, to: None, shared });
        }
        last = set;
    }
    all
}
