//! A sorted map whose copies share what they have in common.
//!
//! The states of a long run are kept at many points. Most blocks of memory stay as they are from one
//! point to the next, so the entries are in short sorted chunks that copies share until one of them
//! changes.

use std::sync::Arc;

/// Maximum number of entries of a chunk; one that grows beyond is split.
const CHUNK: usize = 128;

/// A map from addresses to numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedMap {
    /// By chunk: its first key.
    firsts: Vec<u64>,
    /// No chunk is empty.
    chunks: Vec<Arc<Vec<(u64, u64)>>>,
}

impl SortedMap {
    /// The chunk that a key belongs to, and the entry with the key or where it would be.
    fn find(&self, key: u64) -> Option<(usize, Result<usize, usize>)> {
        let at = self.firsts.partition_point(|it| *it <= key).saturating_sub(1);
        let chunk = self.chunks.get(at)?;
        Some((at, chunk.binary_search_by_key(&key, |it| it.0)))
    }

    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        let (chunk, entry) = self.find(key)?;
        entry.ok().map(|it| self.chunks[chunk][it].1)
    }

    pub(crate) fn insert(&mut self, key: u64, value: u64) {
        let Some((at, entry)) = self.find(key) else {
            self.firsts.push(key);
            self.chunks.push(Arc::new(vec![(key, value)]));
            return;
        };
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        match entry {
            Ok(it) => chunk[it].1 = value,
            Err(it) => chunk.insert(it, (key, value)),
        }
        self.firsts[at] = chunk[0].0;
        if chunk.len() > CHUNK {
            let rest = chunk.split_off(CHUNK / 2);
            self.firsts.insert(at + 1, rest[0].0);
            self.chunks.insert(at + 1, Arc::new(rest));
        }
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<u64> {
        let (at, entry) = self.find(key)?;
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        let (_, value) = chunk.remove(entry.ok()?);
        if let Some(first) = chunk.first() {
            self.firsts[at] = first.0;
        } else {
            self.firsts.remove(at);
            self.chunks.remove(at);
        }
        Some(value)
    }

    /// The last entry whose key is at most this.
    pub(crate) fn last_at(&self, key: u64) -> Option<(u64, u64)> {
        let (chunk, entry) = self.find(key)?;
        let at = entry.map_or_else(|it| it.checked_sub(1), Some)?;
        Some(self.chunks[chunk][at])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_is_a_map_whose_copies_are_independent() {
        let (mut map, mut expected) = (SortedMap::default(), BTreeMap::new());
        let mut copies = Vec::new();
        let mut seed = 1_u64;
        for turn in 0..20_000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (seed >> 33) % 2_000;
            if (seed >> 20).is_multiple_of(3) {
                assert_eq!(map.remove(key), expected.remove(&key));
            } else {
                map.insert(key, turn);
                expected.insert(key, turn);
            }
            if turn.is_multiple_of(4_000) {
                copies.push((map.clone(), expected.clone()));
            }
        }
        copies.push((map, expected));
        for (map, expected) in copies {
            for key in 0..2_010 {
                assert_eq!(map.get(key), expected.get(&key).copied());
                let last = expected.range(..=key).next_back().map(|it| (*it.0, *it.1));
                assert_eq!(map.last_at(key), last);
            }
        }
    }
}
