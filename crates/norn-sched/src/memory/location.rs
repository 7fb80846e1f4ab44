//! The history of one atomic object.

use super::{LOCATIONS, Object, view::View};
use crate::mix;

/// How many stores are kept.
const STORES: usize = 8;

/// The number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) usize);

/// A store.
#[derive(Debug)]
pub(super) struct Store {
    /// Its place in the modification order.
    pub(super) stamp: u32,
    pub(super) value: u128,
    /// What a thread that acquires it has seen.
    pub(super) view: View,
}

/// The last stores to an object.
#[derive(Debug)]
pub(super) struct Location {
    address: usize,
    size: u8,
    stores: [Store; STORES],
    /// Where the newest store is; older ones follow.
    newest: usize,
    count: usize,
}

impl Location {
    pub(super) const fn new() -> Location {
        let stores = [const { Store { stamp: 0, value: 0, view: View::new() } }; STORES];
        Location { address: 0, size: 0, stores, newest: 0, count: 0 }
    }

    /// Whether its newest store is what the memory contains.
    pub(super) fn is_current(&self, object: Object) -> bool {
        let known = self.address == object.address && self.size == object.size && self.count > 0;
        known && self.read(0).is_some_and(|it| it.value == object.content)
    }

    /// Forgets all stores but what the memory contains. All threads see it: how it was written is not
    /// known.
    pub(super) fn restart(&mut self, object: Object, stamp: u32, nothing: &View) {
        (self.address, self.size, self.count) = (object.address, object.size, 0);
        self.push(stamp, object.content, nothing);
    }

    /// Adds a store; the oldest one is forgotten if there is no room.
    pub(super) fn push(&mut self, stamp: u32, value: u128, view: &View) {
        self.newest = (self.newest + STORES - 1) % STORES;
        self.count = (self.count + 1).min(STORES);
        let store = &mut self.stores[self.newest];
        (store.stamp, store.value) = (stamp, value);
        store.view.assign(view);
    }

    /// How many stores are not older than the one with this stamp.
    pub(super) fn since(&self, stamp: u32) -> usize {
        let stores = (0..self.count).filter_map(|it| self.read(it));
        stores.take_while(|it| it.stamp >= stamp).count().max(1)
    }

    /// The store of this age; 0 is the newest.
    pub(super) fn read(&self, age: usize) -> Option<&Store> {
        (age < self.count).then(|| &self.stores[(self.newest + age) % STORES])
    }
}

/// The object with this address, or room for it.
pub(super) fn find(locations: &[Location; LOCATIONS], address: usize) -> Option<Place> {
    let first = usize::try_from(mix(address as u64) % LOCATIONS as u64).unwrap_or(0);
    let mut places = (0..LOCATIONS).map(|it| (first + it) % LOCATIONS);
    let fits = |it: &Location| it.count == 0 || it.address == address;
    places.find(|&it| fits(&locations[it])).map(Place)
}
