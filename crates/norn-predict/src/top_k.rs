//! The top k: of all instances with the same sites, those that are the most likely to be possible,
//! and of these the cheapest to try.
//!
//! Adding and merging give the same result in any order, so that a parallel search is
//! deterministic.

use norn_model::Scope;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Instances with equal keys are one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) scope: Scope,
    pub(crate) pattern: u16,
    pub(crate) sites: SmallVec<[u32; 4]>,
    /// The accesses that hold a lock, as bits.
    pub(crate) locked: u16,
}

/// One match of a pattern, in its order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance {
    /// Whether the recorded run orders its accesses, by locks or otherwise. An instance that it leaves
    /// unordered needs no synchronisation to be moved, so that its schedule preserves all values.
    pub(crate) ordered: bool,
    /// If there is no other evidence that accesses belong together: their distance in events. The
    /// closer they are, the more likely they belong together.
    pub(crate) apart: u64,
    /// Number of events up to the last access: replaying less is cheaper.
    pub(crate) cost: u64,
    pub(crate) steps: SmallVec<[EventPlace; 4]>,
}

impl Instance {
    /// The position of its finding among others. Whether the recorded run orders it does not matter
    /// there: that says nothing about how harmful a finding is.
    pub(crate) fn rank(&self) -> (u64, u64, &[EventPlace]) {
        (self.apart, self.cost, &self.steps)
    }
}

/// One access of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventPlace {
    pub(crate) thread: u16,
    pub(crate) index: u32,
    pub(crate) addr: u64,
}

fn best_rank(instances: &[Instance]) -> Option<(u64, u64, &[EventPlace])> {
    instances.iter().map(Instance::rank).min()
}

/// The cheapest instances of each finding.
#[derive(Debug)]
pub(crate) struct TopK {
    most: usize,
    found: FxHashMap<Key, Vec<Instance>>,
}

impl TopK {
    /// Keeps at most this many instances per finding.
    pub(crate) fn new(most: usize) -> Self {
        TopK { most: most.max(1), found: FxHashMap::default() }
    }

    /// Adds an instance; returns false if there are enough cheaper ones.
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

    /// All findings, in a deterministic order.
    pub(crate) fn sorted(self) -> Vec<(Key, Vec<Instance>)> {
        let mut all: Vec<_> = self.found.into_iter().collect();
        all.sort_unstable_by(|a, b| {
            (a.0.scope, best_rank(&a.1), &a.0).cmp(&(b.0.scope, best_rank(&b.1), &b.0))
        });
        all
    }
}
