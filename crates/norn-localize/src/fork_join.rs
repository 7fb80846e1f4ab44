//! The order of accesses that creating and joining threads fixes.
//!
//! What a thread does before it creates another one, and what a thread did that has been joined, has
//! the same order in every run. A pattern of which that fixes all of the order is no choice of the
//! scheduler, so it cannot make a run fail. This is an addition to the paper: without it the accesses
//! of the main thread after its joins, such as those that report a failure, are the most suspicious.
//! Locks and other synchronization are no such reason, because their order may differ.

use norn_model::ThreadId;
use rustc_hash::FxHashMap;

use crate::{Access, Match};

/// Which thread created and joined which one, and when. Times are those of [`Access::time`]: an access
/// with a smaller one came before.
#[derive(Debug, Default)]
pub(crate) struct ForkJoin {
    created: FxHashMap<ThreadId, (ThreadId, u64)>,
    joined: FxHashMap<ThreadId, (ThreadId, u64)>,
}

impl ForkJoin {
    /// A thread creates another one.
    pub(crate) fn fork(&mut self, by: ThreadId, child: ThreadId, time: u64) {
        self.created.insert(child, (by, time));
    }

    /// A thread has waited for the end of another one.
    pub(crate) fn join(&mut self, by: ThreadId, child: ThreadId, time: u64) {
        self.joined.entry(child).or_insert((by, time));
    }

    /// Whether the accesses of a pattern have this order in every run.
    pub(crate) fn is_fixed(&self, found: &Match) -> bool {
        found.accesses.windows(2).all(|it| self.is_before(&it[0], &it[1]))
    }

    /// Whether an access always comes before a later one: what it is before by joins, meets what the
    /// other one is after by creation.
    fn is_before(&self, one: &Access, other: &Access) -> bool {
        chain(&self.joined, one.event.thread, one.time).any(|(thread, from)| {
            chain(&self.created, other.event.thread, other.time)
                .any(|(creator, until)| creator == thread && from < until)
        })
    }
}

/// A thread and a time, then the thread that created or joined it, and so on.
fn chain(
    next: &FxHashMap<ThreadId, (ThreadId, u64)>,
    thread: ThreadId,
    time: u64,
) -> impl Iterator<Item = (ThreadId, u64)> {
    // In a damaged trace threads may have created each other.
    let longest = next.len() + 1;
    std::iter::successors(Some((thread, time)), |it| next.get(&it.0).copied()).take(longest)
}
