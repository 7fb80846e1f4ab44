//! Which threads of a run created and joined which ones.

use norn_model::ThreadId;
use norn_window::{Ancestry, Link};
use rustc_hash::FxHashMap;

/// Which thread created and joined which one, and how often each of them has done that.
#[derive(Debug, Default)]
pub(crate) struct ForkJoin {
    created: FxHashMap<u32, Link>,
    joined: FxHashMap<u32, Link>,
    /// By thread.
    epochs: Vec<u32>,
}

impl ForkJoin {
    /// The epoch of a thread; see [`Ancestry`].
    #[inline]
    pub(crate) fn epoch(&self, thread: ThreadId) -> u32 {
        self.epochs.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// A thread creates another one.
    pub(crate) fn fork(&mut self, by: ThreadId, child: ThreadId) {
        let epoch = self.next_epoch(by);
        self.created.insert(child.0, Link::creation(by.0, epoch));
    }

    /// A thread has waited for the end of another one.
    pub(crate) fn join(&mut self, by: ThreadId, child: ThreadId) {
        let epoch = self.next_epoch(by);
        self.joined.entry(child.0).or_insert(Link::join(by.0, epoch));
    }

    /// Begins the next epoch of a thread, and returns the one that has ended.
    fn next_epoch(&mut self, thread: ThreadId) -> u32 {
        let at = thread.0 as usize;
        if self.epochs.len() <= at {
            self.epochs.resize(at + 1, 0);
        }
        let epoch = self.epochs[at];
        self.epochs[at] = Link::next(epoch);
        epoch
    }
}

impl Ancestry for ForkJoin {
    fn created(&self, thread: u32) -> Option<Link> {
        self.created.get(&thread).copied()
    }

    fn joined(&self, thread: u32) -> Option<Link> {
        self.joined.get(&thread).copied()
    }
}
