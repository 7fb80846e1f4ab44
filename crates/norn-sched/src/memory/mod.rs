//! The memory of C++20 for atomic objects: a load may return an older store than the newest one.
//!
//! Each atomic object has a short history of its stores, in the order in which they were executed
//! (its modification order). Each thread has a *view*: for each object, the oldest store that it may
//! still read. Reading, writing and synchronisation advance views; a store with release order carries
//! the view of its thread, and a load with acquire order that reads it takes that view over. This is
//! the view machine of Kang, Hur, Lahav, Vafeiadis and Dreyer (POPL 2017) without promises.
//!
//! It produces only what C++20 allows, and not everything: a load never reads a store that has not
//! been executed yet (load buffering), and stores take their places in the modification order as they
//! are executed. Sequentially consistent operations act as if fences stood on both sides of them, and
//! every synchronisation other than an atomic operation shows a thread all stores so far, whatever
//! it synchronises with. Both only forbid more.

mod location;
#[cfg(test)]
mod tests;
mod view;

use location::{Location, Place};
use view::{Thread, View};

/// How many atomic objects have a history; of further ones only the newest store is read.
const LOCATIONS: usize = 128;
/// How many threads may read older stores: those with the lowest numbers.
const THREADS: usize = 64;
/// How often in a row a thread may read older stores of one object. Stores become visible eventually,
/// so a thread that waits for one must not miss it forever.
const PATIENCE: u8 = 2;

/// The view before the first store.
static NOTHING: View = View::new();

/// What a memory order requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Whether a load takes over the view of the store that it reads.
    pub acquires: bool,
    /// Whether a store carries the view of its thread.
    pub releases: bool,
    /// Whether it is part of the single order of sequentially consistent operations.
    pub sequential: bool,
}

/// An atomic object as an operation accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its address.
    pub address: usize,
    /// Its size in bytes.
    pub size: u8,
    /// What the memory contains before the operation. If that is not the newest store, the program
    /// wrote it by other means, and the history begins anew.
    pub content: u128,
}

/// The histories of all atomic objects, and what each thread has seen of them.
#[derive(Debug)]
pub struct Memory {
    locations: [Location; LOCATIONS],
    threads: [Thread; THREADS],
    /// The newest store of each object.
    newest: View,
    /// What sequentially consistent operations have seen.
    sequential: View,
    /// What the store in progress carries.
    carried: View,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl Memory {
    /// Without any store.
    #[expect(clippy::large_stack_arrays, reason = "it is evaluated for a static")]
    pub const fn new() -> Memory {
        Memory {
            locations: [const { Location::new() }; LOCATIONS],
            threads: [const { Thread::new() }; THREADS],
            newest: View::new(),
            sequential: View::new(),
            carried: View::new(),
        }
    }

    /// A load. `choose` gets the number of stores that it may return, and returns which one: 0 is the
    /// newest. Returns the value, if it is not the newest.
    pub fn load(
        &mut self,
        thread: u32,
        object: Object,
        order: Order,
        choose: impl FnOnce(usize) -> usize,
    ) -> Option<u128> {
        let at = self.locate(object)?;
        let Memory { locations, threads, newest, sequential, .. } = self;
        let reader = view::of(threads, newest, thread)?;
        if order.sequential {
            reader.learn(sequential);
        }
        let allowed = locations[at.0].since(reader.current.get(at));
        let wanted = if allowed > 1 { choose(allowed) } else { 0 };
        let age = if reader.is_patient(at) { wanted.min(allowed - 1) } else { 0 };
        let store = locations[at.0].read(age)?;
        reader.read(at, store, order.acquires);
        reader.note_age(at, age);
        if order.sequential {
            sequential.join(&reader.current);
        }
        (age > 0).then_some(store.value)
    }

    /// A store.
    pub fn store(&mut self, thread: u32, object: Object, order: Order, value: u128) {
        self.write(thread, object, order, value, false);
    }

    /// An operation that reads the newest store and replaces it in one step. It continues the release
    /// sequence of that store.
    pub fn update(&mut self, thread: u32, object: Object, order: Order, value: u128) {
        self.load(thread, object, order, |_| 0);
        self.write(thread, object, order, value, true);
    }

    /// A fence.
    pub fn fence(&mut self, thread: u32, order: Order) {
        let Memory { threads, newest, sequential, .. } = self;
        let Some(thread) = view::of(threads, newest, thread) else { return };
        if order.acquires {
            thread.take_acquired();
        }
        if order.sequential {
            thread.learn(sequential);
            sequential.join(&thread.current);
        }
        if order.releases {
            thread.release();
        }
    }

    /// Synchronisation by other means: the thread sees all stores so far.
    pub fn synchronise(&mut self, thread: u32) {
        let Memory { threads, newest, .. } = self;
        if let Some(thread) = view::of(threads, newest, thread) {
            thread.learn(newest);
        }
    }

    fn write(&mut self, thread: u32, object: Object, order: Order, value: u128, continues: bool) {
        let Some(at) = self.locate(object) else { return };
        let Memory { locations, threads, newest, sequential, carried } = self;
        let stamp = newest.get(at) + 1;
        newest.advance(at, stamp);
        // What a thread beyond the limit has seen is not known.
        carried.assign(newest);
        if let Some(writer) = view::of(threads, newest, thread) {
            if order.sequential {
                writer.learn(sequential);
            }
            writer.write(at, stamp);
            if order.sequential {
                sequential.join(&writer.current);
            }
            carried.assign(if order.releases { &writer.current } else { &writer.released });
            carried.advance(at, stamp);
        }
        if continues && let Some(before) = locations[at.0].read(0) {
            carried.join(&before.view);
        }
        locations[at.0].push(stamp, value, carried);
    }

    /// The history of an object. It begins with what the memory contains.
    fn locate(&mut self, object: Object) -> Option<Place> {
        let place = location::find(&self.locations, object.address)?;
        let location = &mut self.locations[place.0];
        if !location.is_current(object) {
            let stamp = self.newest.get(place) + 1;
            self.newest.advance(place, stamp);
            location.restart(object, stamp, &NOTHING);
        }
        Some(place)
    }
}
