//! The writes that some reads of the recorded run saw.
//!
//! A program that copies memory has millions of reads whose values are not recorded. A schedule meets
//! the reads of a thread in their order, so they are kept in this order, and a cursor for each thread
//! finds the next one beside the last.

use std::hash::Hasher as _;

use norn_model::{EventId, ThreadId};
use rustc_hash::{FxHashMap, FxHasher};

use crate::memory::WriterId;

/// The writes that the bytes of a read come from, as a hash: a read of 64 bytes may see as many
/// writes, and only whether they are the same is ever asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin(u64);

impl Origin {
    /// Adds the write that a byte comes from. Bytes come in the order of their addresses.
    pub(crate) fn add(&mut self, address: u64, writer: WriterId) {
        let mut hasher = FxHasher::default();
        for part in [self.0, address, writer] {
            hasher.write_u64(part);
        }
        self.0 = hasher.finish();
    }
}

/// By thread: reads, by their index in the thread, with the writes that each saw.
#[derive(Debug, Default)]
pub(crate) struct Sources(FxHashMap<ThreadId, Vec<(u64, Origin)>>);

impl Sources {
    /// Adds the writes that a read saw. The reads of a thread come in their order.
    pub(crate) fn add(&mut self, read: EventId, origin: Origin) {
        self.0.entry(read.thread).or_default().push((read.index, origin));
    }
}

/// Looks for reads that come, thread by thread, mostly in their order.
#[derive(Debug)]
pub(crate) struct SourceCursor<'a> {
    sources: &'a Sources,
    /// By thread: where the last read was found.
    at: FxHashMap<ThreadId, usize>,
}

impl<'a> SourceCursor<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        SourceCursor { sources, at: FxHashMap::default() }
    }

    /// The writes that a read saw, if they were noted.
    pub(crate) fn get(&mut self, read: EventId) -> Option<Origin> {
        let reads = self.sources.0.get(&read.thread)?;
        let at = self.at.entry(read.thread).or_default();
        if reads.get(*at).is_none_or(|it| it.0 > read.index) {
            *at = 0;
        }
        // Doubling steps: next to the last read in a step or two, far from it in a logarithm.
        let is_before = |it: &(u64, Origin)| it.0 < read.index;
        let mut step = 1;
        while reads.get(*at + step).is_some_and(is_before) {
            *at += step;
            step *= 2;
        }
        let end = reads.len().min(*at + step + 1);
        *at += reads[*at..end].partition_point(is_before);
        reads.get(*at).filter(|it| it.0 == read.index).map(|it| it.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(index: u64) -> EventId {
        EventId { thread: ThreadId(3), index }
    }

    fn origin(bytes: &[(u64, WriterId)]) -> Origin {
        let mut origin = Origin::default();
        for (address, writer) in bytes {
            origin.add(*address, *writer);
        }
        origin
    }

    #[test]
    fn origins_are_equal_if_each_byte_comes_from_the_same_write() {
        let two = origin(&[(8, 1), (9, 2)]);
        assert_eq!(two, origin(&[(8, 1), (9, 2)]));
        assert_ne!(two, origin(&[(8, 2), (9, 1)]));
        assert_ne!(two, origin(&[(8, 1)]));
    }

    #[test]
    fn reads_are_found_in_any_order() {
        let mut sources = Sources::default();
        for index in (0..3_000).filter(|it| it % 3 == 0) {
            sources.add(read(index), origin(&[(0, index)]));
        }
        let mut cursor = SourceCursor::new(&sources);
        let steps = [1, 2, 7, 500, 1_499, 2_998];
        for index in steps.iter().flat_map(|it| (0..3_100).step_by(*it)) {
            let wanted = (index < 3_000 && index % 3 == 0).then(|| origin(&[(0, index)]));
            assert_eq!(cursor.get(read(index)), wanted, "{index}");
        }
        assert_eq!(cursor.get(EventId { thread: ThreadId(4), index: 0 }), None);
    }
}
