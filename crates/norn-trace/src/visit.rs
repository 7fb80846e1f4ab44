//! Counts how often threads visit places, without decoding the whole trace for each question.
//!
//! Schedules and claims name an event by its place and by the number of the visit, which counts all
//! events of the thread at that place. A table has the number of events at each site for each chunk,
//! so that at most two chunks are decoded to answer a question.

use std::ops::Range;

use norn_model::{Event, SiteId, ThreadId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{ChunkEvents, Trace};

/// By chunk: the number of events at each site, sorted by site.
#[derive(Debug, Default)]
pub(crate) struct VisitTable(pub(crate) Vec<Vec<(SiteId, u32)>>);

impl VisitTable {
    pub(crate) fn new(trace: &Trace) -> VisitTable {
        let count = |at: usize| {
            let mut counts: FxHashMap<SiteId, u32> = FxHashMap::default();
            ChunkEvents::new(trace, at).for_each(|it| *counts.entry(it.site).or_default() += 1);
            let mut counts: Vec<_> = counts.into_iter().collect();
            counts.sort_unstable();
            counts
        };
        VisitTable((0..trace.chunks.len()).into_par_iter().map(count).collect())
    }
}

impl Trace {
    /// See [`crate::EventIndex::visits`].
    pub(crate) fn count_visits(
        &self,
        thread: ThreadId,
        range: Range<u64>,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> u64 {
        let mut count = 0;
        for at in self.thread(thread).map_or(0..0, |it| it.chunks.clone()) {
            let start = self.index.starts[at].index;
            let end = start + self.index.starts[at].events;
            if end <= range.start || range.end <= start {
                continue;
            }
            count += if range.start <= start && end <= range.end {
                self.in_chunk(at, is_there)
            } else {
                let inside = |it: &Event| range.contains(&it.id.index);
                let events = ChunkEvents::new(self, at).filter(inside);
                events.filter(|it| is_there(it.site)).count() as u64
            };
        }
        count
    }

    /// See [`crate::EventIndex::visit`].
    pub(crate) fn find_visit(
        &self,
        thread: ThreadId,
        number: u64,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> Option<Event> {
        let mut left = number;
        for at in self.thread(thread)?.chunks.clone() {
            let Some(later) = left.checked_sub(self.in_chunk(at, is_there)) else {
                let mut visits = ChunkEvents::new(self, at).filter(|it| is_there(it.site));
                return visits.nth(usize::try_from(left).ok()?);
            };
            left = later;
        }
        None
    }

    pub(crate) fn visit_table(&self) -> &VisitTable {
        self.visits.get_or_init(|| VisitTable::new(self))
    }

    /// The number of events in a chunk at sites for which a predicate holds.
    fn in_chunk(&self, at: usize, is_there: &mut dyn FnMut(SiteId) -> bool) -> u64 {
        let there = self.visit_table().0[at].iter().filter(|it| is_there(it.0));
        there.map(|it| u64::from(it.1)).sum()
    }
}
