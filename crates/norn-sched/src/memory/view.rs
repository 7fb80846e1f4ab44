//! What threads have seen of the histories.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{
    LOCATIONS, PATIENCE, THREADS,
    location::{Place, Store},
};

/// For each object, the oldest store that may still be read.
///
/// The elements are atomic only because compilers replace loops over plain ones by calls of `memcpy` and
/// `memset`, which the runtime intercepts.
#[derive(Debug)]
pub(super) struct View([AtomicU32; LOCATIONS]);

impl View {
    pub(super) const fn new() -> View {
        View([const { AtomicU32::new(0) }; LOCATIONS])
    }

    pub(super) fn get(&self, place: Place) -> u32 {
        self.0[place.0].load(Relaxed)
    }

    /// Advances to a store.
    pub(super) fn advance(&mut self, place: Place, stamp: u32) {
        self.0[place.0].fetch_max(stamp, Relaxed);
    }

    /// Sees what another view does, too.
    pub(super) fn join(&mut self, other: &View) {
        for (own, other) in self.0.iter().zip(&other.0) {
            own.fetch_max(other.load(Relaxed), Relaxed);
        }
    }

    /// Becomes the same as another view.
    pub(super) fn assign(&mut self, other: &View) {
        for (own, other) in self.0.iter().zip(&other.0) {
            own.store(other.load(Relaxed), Relaxed);
        }
    }
}

/// What one thread has seen.
#[derive(Debug)]
pub(super) struct Thread {
    begun: bool,
    /// What it must not read behind.
    pub(super) current: View,
    /// What it would have seen if all its loads had acquired, which an acquire fence makes up for.
    acquired: View,
    /// What it had seen at its last release fence.
    pub(super) released: View,
    /// By object: how many older stores it has read in a row.
    aged: [u8; LOCATIONS],
}

impl Thread {
    pub(super) const fn new() -> Thread {
        Thread {
            begun: false,
            current: View::new(),
            acquired: View::new(),
            released: View::new(),
            aged: [0; LOCATIONS],
        }
    }

    /// Sees what others have seen.
    pub(super) fn learn(&mut self, view: &View) {
        self.current.join(view);
        self.acquired.join(view);
    }

    /// An acquire fence.
    pub(super) fn take_acquired(&mut self) {
        self.current.assign(&self.acquired);
    }

    /// A release fence.
    pub(super) fn release(&mut self) {
        self.released.assign(&self.current);
    }

    /// Reads a store.
    pub(super) fn read(&mut self, at: Place, store: &Store, acquires: bool) {
        self.write(at, store.stamp);
        self.acquired.join(&store.view);
        if acquires {
            self.current.join(&store.view);
        }
    }

    /// Has seen a store, as its reader or writer.
    pub(super) fn write(&mut self, at: Place, stamp: u32) {
        self.current.advance(at, stamp);
        self.acquired.advance(at, stamp);
    }

    /// Whether it may still read an older store of an object.
    pub(super) fn is_patient(&self, at: Place) -> bool {
        self.aged[at.0] < PATIENCE
    }

    pub(super) fn note_age(&mut self, at: Place, age: usize) {
        self.aged[at.0] = if age > 0 { self.aged[at.0] + 1 } else { 0 };
    }
}

/// The thread with a number. A new one sees all stores so far: those of its creator among them.
pub(super) fn of<'a>(
    threads: &'a mut [Thread; THREADS],
    newest: &View,
    number: u32,
) -> Option<&'a mut Thread> {
    let thread = threads.get_mut(number as usize)?;
    if !thread.begun {
        thread.begun = true;
        thread.learn(newest);
    }
    Some(thread)
}
