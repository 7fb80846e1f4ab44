//! Loads some events of a trace into memory: those that an analysis needs.
//!
//! The chunks are decoded in parallel, a batch at a time, and only the selected events are kept. So
//! the memory that this takes depends on the selected events and not on the length of the run. In
//! the result the events of each thread are numbered without gaps, as all analyses expect;
//! [`Positions`] translates between these numbers and those of the whole trace.

use norn_model::{self as model, Event, EventId, Op, ThreadId, WokenBy};
use rayon::prelude::*;

use crate::{ChunkEvents, Trace, load::without_events};

/// Number of chunks that are decoded before their selected events are collected.
const BATCH: usize = 64;

/// Where the events of a loaded trace are in the whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// By ascending id of the thread: the indices of the loaded events, ascending. A thread that is
    /// not here is loaded from its first event on without gaps.
    threads: Vec<(ThreadId, Vec<u64>)>,
}

impl Positions {
    /// The event of the whole trace that is this one in the loaded trace.
    pub fn recorded(&self, loaded: EventId) -> EventId {
        let Some(indices) = self.indices(loaded.thread) else { return loaded };
        let past = || indices.last().map_or(0, |it| it + 1);
        let at = usize::try_from(loaded.index).ok().and_then(|it| indices.get(it)).copied();
        EventId { index: at.unwrap_or_else(past), ..loaded }
    }

    /// The event of the loaded trace that is this one in the whole trace, if it is loaded.
    pub fn loaded(&self, recorded: EventId) -> Option<EventId> {
        let Some(indices) = self.indices(recorded.thread) else { return Some(recorded) };
        let at = indices.binary_search(&recorded.index).ok()?;
        Some(EventId { index: at as u64, ..recorded })
    }

    /// Number of events of the whole trace that a thread has executed when it has executed this many
    /// of the loaded ones, and nothing after the last of them.
    pub fn executed(&self, thread: ThreadId, loaded: u64) -> u64 {
        loaded.checked_sub(1).map_or(0, |last| {
            let last = self.recorded(EventId { thread, index: last });
            last.index + 1
        })
    }

    /// Number of loaded events of a thread before an event of the whole trace.
    pub fn before(&self, recorded: EventId) -> u64 {
        self.indices(recorded.thread).map_or(recorded.index, |indices| {
            indices.partition_point(|it| *it < recorded.index) as u64
        })
    }

    /// Number of loaded events of a thread up to an event of the whole trace, inclusive.
    pub fn upto(&self, recorded: EventId) -> u64 {
        self.before(EventId { index: recorded.index + 1, ..recorded })
    }

    /// The indices of a thread's loaded events in the whole trace; `None` if they are the first ones.
    pub fn indices(&self, thread: ThreadId) -> Option<&[u64]> {
        let at = self.threads.binary_search_by_key(&thread, |it| it.0).ok()?;
        Some(&self.threads[at].1)
    }
}

/// The selected events of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The selected events.
    pub trace: model::Trace,
    /// Where they are in the whole trace.
    pub positions: Positions,
}

impl Trace {
    /// Visits all events, in parallel chunk by chunk. `visitor` gets the number of a thread, from 0,
    /// and the index of the chunk's first event, and returns what visits the events of that chunk in
    /// order.
    pub fn scan<V: FnMut(&Event)>(&self, visitor: impl Fn(usize, EventId) -> V + Sync) {
        (0..self.chunks.len()).into_par_iter().for_each(|at| {
            let Some((thread, first)) = self.first_of(at) else { return };
            let mut visit = visitor(thread, first);
            ChunkEvents::new(self, at).for_each(|event| visit(&event));
        });
    }

    /// Loads the events for which a predicate holds; `None` if they are more than `most`. The
    /// predicates are made as in [`Trace::scan`].
    pub fn select<P: FnMut(&Event) -> bool>(
        &self,
        most: u64,
        predicate: impl Fn(usize, EventId) -> P + Sync,
    ) -> Option<Selection> {
        self.select_and_prune(most, predicate, |_| {})
    }

    /// As [`Trace::select`]; `prune` removes some of the selected events of each chunk.
    pub fn select_and_prune<P: FnMut(&Event) -> bool>(
        &self,
        most: u64,
        predicate: impl Fn(usize, EventId) -> P + Sync,
        prune: impl Fn(&mut Vec<Event>) + Sync,
    ) -> Option<Selection> {
        let mut threads: Vec<_> = self.threads().iter().map(without_events).collect();
        let mut indices: Vec<Vec<u64>> = vec![Vec::new(); threads.len()];
        let mut left = most;
        // By thread: the sequence number of an event that was left out at the end of the last chunk.
        let mut numbers: Vec<Option<u64>> = vec![None; threads.len()];
        let chunks: Vec<_> = (0..self.chunks.len()).collect();
        for batch in chunks.chunks(BATCH) {
            let parts: Vec<_> =
                batch.par_iter().map(|at| self.part(*at, &predicate, &prune)).collect();
            for (thread, mut part) in parts.into_iter().flatten() {
                left = left.checked_sub(part.events.len() as u64)?;
                if let Some(first) = part.events.first_mut() {
                    first.seq = first.seq.or(numbers[thread]);
                    numbers[thread] = None;
                }
                numbers[thread] = part.number.or(numbers[thread]);
                indices[thread].extend(part.events.iter().map(|it| it.id.index));
                threads[thread].events.append(&mut part.events);
            }
        }
        let named = threads.iter().map(|it| it.id).zip(indices);
        let positions = Positions { threads: named.collect() };
        threads.par_iter_mut().for_each(|it| renumber(it, &positions));
        Some(Selection { trace: self.with_threads(threads), positions })
    }

    /// The selected events of a chunk, and the number of its thread.
    fn part<P: FnMut(&Event) -> bool>(
        &self,
        at: usize,
        predicate: &(impl Fn(usize, EventId) -> P + Sync),
        prune: &(impl Fn(&mut Vec<Event>) + Sync),
    ) -> Option<(usize, Part)> {
        let (thread, first) = self.first_of(at)?;
        let mut is_selected = predicate(thread, first);
        let mut part = Part::default();
        ChunkEvents::new(self, at).for_each(|event| {
            if is_selected(&event) {
                let seq = event.seq.or(part.number.take());
                part.number = None;
                part.events.push(Event { seq, ..event });
            } else if event.seq.is_some() {
                part.number = event.seq;
            }
        });
        prune(&mut part.events);
        Some((thread, part))
    }

    /// The number of a chunk's thread, from 0, and the chunk's first event.
    fn first_of(&self, at: usize) -> Option<(usize, EventId)> {
        let thread = self.chunks[at].thread();
        let number = self.threads().binary_search_by_key(&thread, |it| it.id).ok()?;
        Some((number, EventId { thread, index: self.index.starts[at].index }))
    }
}

/// The selected events of a chunk.
#[derive(Default)]
struct Part {
    events: Vec<Event>,
    /// The sequence number of the last event, if that is left out. An event without a number follows
    /// directly after the last numbered one, so the next selected event takes the number over.
    number: Option<u64>,
}

/// Numbers the events of a thread without gaps.
fn renumber(thread: &mut model::Thread, positions: &Positions) {
    for (event, index) in thread.events.iter_mut().zip(0..) {
        event.id.index = index;
        if let Op::WaitAcquire { woken, .. } = &mut event.op
            && let WokenBy::Event(signal) = *woken
        {
            *woken = positions.loaded(signal).map_or(WokenBy::Nothing, WokenBy::Event);
        }
    }
}
