//! The writes that some reads of the recorded run saw.
//!
//! A program that copies memory has millions of reads whose values are not recorded. A schedule meets
//! the reads of a thread in their order, so they are kept in this order, and a cursor for each thread
//! finds the next one beside the last.

use norn_model::{EventId, ThreadId};
use rustc_hash::FxHashMap;

use crate::memory::WriterId;

/// By thread: reads, by their index in the thread, with the write that each saw.
#[derive(Debug, Default)]
pub(crate) struct Sources(FxHashMap<ThreadId, Vec<(u64, WriterId)>>);

impl Sources {
    /// Adds the write that a read saw, unless there is one already. The reads of a thread come in
    /// their order.
    pub(crate) fn add(&mut self, read: EventId, write: WriterId) {
        let reads = self.0.entry(read.thread).or_default();
        if reads.last().is_none_or(|it| it.0 < read.index) {
            reads.push((read.index, write));
        }
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

    /// The write that a read saw, if that was noted.
    pub(crate) fn get(&mut self, read: EventId) -> Option<WriterId> {
        let reads = self.sources.0.get(&read.thread)?;
        let at = self.at.entry(read.thread).or_default();
        if reads.get(*at).is_none_or(|it| it.0 > read.index) {
            *at = 0;
        }
        // Doubling steps: next to the last read in a step or two, far from it in a logarithm.
        let is_before = |it: &(u64, WriterId)| it.0 < read.index;
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

    #[test]
    fn reads_are_found_in_any_order() {
        let mut sources = Sources::default();
        for index in (0..3_000).filter(|it| it % 3 == 0) {
            sources.add(read(index), index + 1);
            sources.add(read(index), 0);
        }
        let mut cursor = SourceCursor::new(&sources);
        let steps = [1, 2, 7, 500, 1_499, 2_998];
        for index in steps.iter().flat_map(|it| (0..3_100).step_by(*it)) {
            let wanted = (index < 3_000 && index % 3 == 0).then_some(index + 1);
            assert_eq!(cursor.get(read(index)), wanted, "{index}");
        }
        assert_eq!(cursor.get(EventId { thread: ThreadId(4), index: 0 }), None);
    }
}
