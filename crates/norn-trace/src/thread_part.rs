//! Goes through the events of a thread in consecutive parts, such as the segments of a schedule.
//!
//! A schedule of a long run has some ten thousand segments. To count the visits in each of them alone would decode
//! a chunk again for each of its segments. So each chunk is decoded once, and a chunk in which no part ends is not
//! decoded at all: the table of visits has its counts.

use norn_model::{Event, SiteId, ThreadId};

use crate::{ChunkEvents, Trace};

/// A part of the events of a thread.
#[derive(Debug)]
pub struct ThreadPart<'a> {
    visits: &'a SiteVisits,
    /// The last event before its end, if that is in the part.
    pub last: Option<Event>,
    /// The event at its end, which is not in the part.
    pub next: Option<Event>,
}

impl ThreadPart<'_> {
    /// The sites of its events, in no order, and the number of its events at each of them.
    pub fn visits(&self) -> impl Iterator<Item = (SiteId, u64)> {
        self.visits.sites.iter().map(|it| (*it, self.visits.counts[it.0 as usize]))
    }
}

impl Trace {
    /// Visits consecutive parts of the events of a thread, the first of which begins with its first event.
    /// `ends` has the indices of the events before which the parts end, in ascending order.
    pub fn visit_parts(
        &self,
        thread: ThreadId,
        ends: &[u64],
        visit: &mut dyn FnMut(usize, &ThreadPart<'_>),
    ) {
        let visits = SiteVisits { counts: vec![0; self.sites().len()], sites: Vec::new() };
        let mut parts = Parts { ends, at: 0, visits, last: None, visit };
        for at in self.thread(thread).map_or(0..0, |it| it.chunks.clone()) {
            let Some(end) = parts.end() else { return };
            let start = &self.index.starts[at];
            if end > start.index + start.events {
                let counts = &self.visit_table().0[at];
                for (site, count) in counts {
                    parts.visits.add(*site, u64::from(*count));
                }
                continue;
            }
            for event in ChunkEvents::new(self, at) {
                if parts.event(&event).is_none() {
                    return;
                }
            }
        }
        while parts.end().is_some() {
            parts.finish(None);
        }
    }

    /// The last sequence number of a thread up to an event, inclusive.
    pub fn number_at(&self, thread: ThreadId, index: u64) -> Option<u64> {
        let thread = self.thread(thread)?;
        let before = |it: &Event| it.id.index <= index;
        let last =
            |at: usize| ChunkEvents::new(self, at).take_while(before).filter_map(|it| it.seq);
        let chunks = thread.chunks.clone().rev();
        let mut chunks = chunks.filter(|it| self.index.starts[*it].index <= index);
        chunks.find_map(|at| last(at).last()).or(Some(thread.after))
    }
}

/// How often sites were visited.
#[derive(Debug)]
struct SiteVisits {
    /// By site.
    counts: Vec<u64>,
    /// The visited sites.
    sites: Vec<SiteId>,
}

impl SiteVisits {
    fn add(&mut self, site: SiteId, times: u64) {
        let Some(count) = self.counts.get_mut(site.0 as usize) else { return };
        if *count == 0 {
            self.sites.push(site);
        }
        *count += times;
    }

    fn clear(&mut self) {
        for site in self.sites.drain(..) {
            self.counts[site.0 as usize] = 0;
        }
    }
}

/// The parts, while a thread is gone through.
struct Parts<'a> {
    ends: &'a [u64],
    /// The number of the current part.
    at: usize,
    visits: SiteVisits,
    last: Option<Event>,
    visit: &'a mut dyn FnMut(usize, &ThreadPart<'_>),
}

impl Parts<'_> {
    /// The end of the current part.
    fn end(&self) -> Option<u64> {
        self.ends.get(self.at).copied()
    }

    /// Adds the next event; `None` after the last part.
    fn event(&mut self, event: &Event) -> Option<()> {
        let index = event.id.index;
        while self.end()? <= index {
            self.finish(Some(*event).filter(|_| self.end() == Some(index)));
        }
        self.visits.add(event.site, 1);
        if self.end()? == index + 1 {
            self.last = Some(*event);
        }
        Some(())
    }

    fn finish(&mut self, next: Option<Event>) {
        let part = ThreadPart { visits: &self.visits, last: self.last.take(), next };
        (self.visit)(self.at, &part);
        self.visits.clear();
        self.at += 1;
    }
}
