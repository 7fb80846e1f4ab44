//! The locks held at an event, and the mutual exclusion of lock sets.
//!
//! Lock sets after Savage et al. (*Eraser*, TOCS 1997), with the mode of each lock: two sets
//! exclude each other if they have a lock in common that one of them does not merely share.
//! There are few sets and many events, so each set is stored once and has a number.

use rustc_hash::FxHashMap;

use crate::outline::{Outline, narrow};

/// Locks, sorted, and whether each is shared with other readers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Set(Vec<(u64, bool)>);

impl Set {
    pub(crate) fn new(locks: impl Iterator<Item = (u64, bool)>) -> Set {
        let mut locks: Vec<_> = locks.collect();
        locks.sort_unstable();
        Set(locks)
    }

    /// Whether threads that hold these sets exclude each other.
    pub(crate) fn excludes(&self, other: &Set) -> bool {
        self.0.iter().any(|&(lock, shared)| {
            let both = other.0.binary_search_by_key(&lock, |it| it.0).ok();
            both.is_some_and(|at| !(shared && other.0[at].1))
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// All sets of a trace, by number; 0 is the empty one.
#[derive(Debug)]
pub(crate) struct LockSets(Vec<Set>);

impl LockSets {
    /// Assigns common numbers to the sets of all threads, and updates the outlines.
    pub(crate) fn unite(outlines: &mut [Outline]) -> LockSets {
        let mut sets = vec![Set::default()];
        let mut known = FxHashMap::from_iter([(Set::default(), 0)]);
        for outline in outlines {
            let numbers: Vec<u32> = std::mem::take(&mut outline.sets)
                .into_iter()
                .map(|set| {
                    *known.entry(set).or_insert_with_key(|set| {
                        sets.push(set.clone());
                        narrow(sets.len() - 1)
                    })
                })
                .collect();
            outline.changes.iter_mut().for_each(|it| it.set = numbers[it.set as usize]);
        }
        LockSets(sets)
    }

    /// The locks of a set, and whether each is shared.
    pub(crate) fn locks(&self, set: u32) -> &[(u64, bool)] {
        &self.0[set as usize].0
    }

    /// Whether threads that hold these sets exclude each other.
    pub(crate) fn exclude(&self, one: u32, other: u32) -> bool {
        one != 0 && other != 0 && self.0[one as usize].excludes(&self.0[other as usize])
    }

    /// The smallest set that a thread holds anywhere between two events. If locks are nested, it is
    /// held all the time; a thread that it does not exclude can come in between.
    pub(crate) fn smallest(&self, outline: &Outline, from: u32, to: u32) -> u32 {
        let changes = &outline.changes[outline.at(from)..=outline.at(to)];
        let sets = changes.iter().map(|it| it.set);
        sets.min_by_key(|set| (self.0[*set as usize].len(), *set)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_do_not_exclude_each_other() {
        let set = |locks: &[(u64, bool)]| Set::new(locks.iter().copied());
        let (read, write) = (set(&[(1, true)]), set(&[(2, false), (1, false)]));
        assert!(!read.excludes(&read));
        assert!(read.excludes(&write));
        assert!(write.excludes(&read));
        assert!(!write.excludes(&set(&[(3, false)])));
    }
}
