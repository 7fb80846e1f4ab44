//! The top k: of all instances with the same sites, the few that are the cheapest to try.
//!
//! Keeping and merging give the same result in any order, so the search can run in parallel and
//! still be the same every time.

use norn_model::Scope;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What makes two instances the same finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) scope: Scope,
    pub(crate) pattern: u16,
    pub(crate) sites: SmallVec<[u32; 4]>,
    /// Which of the accesses are under a lock, as bits.
    pub(crate) locked: u16,
}

/// One match of a pattern, in its order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance {
    /// If nothing says that accesses belong together: how far they are apart, in events. The
    /// closer they are, the likelier it is that they do.
    pub(crate) apart: u64,
    /// How many events must have been: to replay less is cheaper.
    pub(crate) cost: u64,
    pub(crate) steps: SmallVec<[EventPlace; 4]>,
}

/// One access of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventPlace {
    pub(crate) thread: u16,
    pub(crate) index: u32,
    pub(crate) addr: u64,
}

/// The cheapest instances of each finding.
#[derive(Debug)]
pub(crate) struct TopK {
    most: usize,
    found: FxHashMap<Key, Vec<Instance>>,
}

impl TopK {
    /// Keeps at most this many instances of each.
    pub(crate) fn new(most: usize) -> Self {
        TopK { most: most.max(1), found: FxHashMap::default() }
    }

    /// Adds an instance; false if there are cheaper ones enough.
    pub(crate) fn add(&mut self, key: Key, instance: Instance) -> bool {
        let found = self.found.entry(key).or_default();
        let at = found.partition_point(|it| *it < instance);
        if at < self.most && found.get(at) != Some(&instance) {
            found.insert(at, instance);
            found.truncate(self.most);
        }
        at < self.most
    }

    pub(crate) fn merge(mut self, other: TopK) -> TopK {
        if self.found.len() < other.found.len() {
            return other.merge(self);
        }
        #[expect(clippy::iter_over_hash_type, reason = "the result is the same in any order")]
        for (key, instances) in other.found {
            for it in instances {
                self.add(key.clone(), it);
            }
        }
        self
    }

    /// All findings, in an order that depends on nothing but themselves.
    pub(crate) fn sorted(self) -> Vec<(Key, Vec<Instance>)> {
        let mut all: Vec<_> = self.found.into_iter().collect();
        all.sort_unstable_by(|a, b| (a.0.scope, &a.1[0], &a.0).cmp(&(b.0.scope, &b.1[0], &b.0)));
        all
    }
}
