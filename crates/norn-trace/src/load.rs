//! Loads a whole trace into memory, for analyses that need several passes.

use norn_model::{self as model, Event, EventId, Op, SiteId, StackId, ThreadId};
use rayon::prelude::*;

use crate::{ChunkEvents, Thread, Trace};

/// The placeholder of an event that is not decoded yet.
const NOT_YET: Event = Event {
    id: EventId { thread: ThreadId(0), index: 0 },
    op: Op::Yield,
    site: SiteId(0),
    stack: StackId(0),
    seq: None,
};

impl Trace {
    /// Loads all events, decoded in parallel. Needs more than a hundred bytes per event; see
    /// [`Trace::counts`] first.
    pub fn load(&self) -> model::Trace {
        let lengths: Vec<_> = self.threads().iter().map(|it| it.events).collect();
        self.load_up_to(&lengths)
    }

    /// Loads at most about `most` events: a prefix of the run, up to one point in time.
    pub fn load_first(&self, most: u64) -> model::Trace {
        if self.counts().events <= most {
            return self.load();
        }
        let mut lengths = vec![0; self.threads().len()];
        for event in self.merged().take(usize::try_from(most).unwrap_or(usize::MAX)) {
            let thread = self.threads().binary_search_by_key(&event.id.thread, |it| it.id);
            if let Ok(thread) = thread {
                lengths[thread] = event.id.index + 1;
            }
        }
        self.load_up_to(&lengths)
    }

    /// Loads this many events of each thread.
    fn load_up_to(&self, lengths: &[u64]) -> model::Trace {
        let threads = self.threads().iter().zip(lengths);
        let mut threads: Vec<_> = threads.map(|(it, length)| empty(it, *length)).collect();
        let mut parts = Vec::with_capacity(self.chunks.len());
        for (from, to) in self.threads().iter().zip(&mut threads) {
            let mut rest = to.events.as_mut_slice();
            for at in from.chunks.clone() {
                let part;
                (part, rest) = rest.split_at_mut(self.events_in(at).min(rest.len()));
                if !part.is_empty() {
                    parts.push((at, part));
                }
            }
        }
        parts.into_par_iter().for_each(|(at, part)| fill(part, ChunkEvents::new(self, at)));
        self.with_threads(threads)
    }

    /// A trace in memory with these threads.
    pub(crate) fn with_threads(&self, threads: Vec<model::Thread>) -> model::Trace {
        model::Trace {
            order: self.order(),
            threads,
            sites: self.sites().iter().map(|it| model::Site { pc: it.pc, place: None }).collect(),
            stacks: self.stacks().clone(),
            symbols: model::Symbols::default(),
            names: self.names().clone(),
        }
    }

    fn events_in(&self, chunk: usize) -> usize {
        usize::try_from(self.index.starts[chunk].events).unwrap_or(0)
    }
}

/// A thread with space for its events.
fn empty(thread: &Thread, length: u64) -> model::Thread {
    let events = vec![NOT_YET; usize::try_from(length).unwrap_or(0)];
    model::Thread { events, ..without_events(thread) }
}

/// A thread that has no events yet.
pub(crate) fn without_events(thread: &Thread) -> model::Thread {
    let Thread { id, role, parent, after, .. } = *thread;
    model::Thread { id, name: thread.name.clone(), role, parent, after, events: Vec::new() }
}

fn fill(part: &mut [Event], events: ChunkEvents<'_>) {
    let mut places = part.iter_mut();
    events.for_each(|event| {
        if let Some(place) = places.next() {
            *place = event;
        }
    });
}
