//! The end of a run, without decoding what was before.

use std::ops::Range;

use norn_model::{Event, Merged, Start, Stream};

use crate::{Events, Thread, Trace};

impl Trace {
    /// The last events of all threads, in one order that is consistent with the trace: at least this
    /// many of each thread that has as many. Earlier chunks are not decoded.
    pub fn merged_last(&self, most: u64) -> impl Iterator<Item = Event> {
        Merged::new(self.threads().iter().map(move |thread| {
            let chunks = self.last_chunks(thread, most);
            let start = match self.chunks.get(chunks.start) {
                // Its first events come right after the last numbered one of the chunk before.
                Some(first) if chunks.start > thread.chunks.start => {
                    Start::After(first.header.last_seq)
                }
                _ => thread.start,
            };
            Stream { start, open: move || Events::new(self, chunks) }
        }))
    }

    /// The last chunks of a thread that have this many events together.
    fn last_chunks(&self, thread: &Thread, most: u64) -> Range<usize> {
        let first = thread.events.saturating_sub(most);
        let starts = &self.index.starts[thread.chunks.clone()];
        let after = starts.partition_point(|it| it.index <= first);
        thread.chunks.start + after.saturating_sub(1)..thread.chunks.end
    }
}
