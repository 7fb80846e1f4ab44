//! When accesses happened, as far as a trace says.
//!
//! Synchronisation has sequence numbers, and in the trace of a controlled run so has the first event of each
//! turn. What has none is right behind the last that has one, as in [`norn_model::Merged`]: if all of
//! the run is ordered, that is when it was. If not, it is the earliest time that it can have been,
//! and the next number of its thread is the latest.

use norn_model::{Event, Order, Trace};
use rayon::prelude::*;

use crate::outline::narrow;

/// When events happened.
#[derive(Debug)]
pub(crate) struct Timestamps<'a> {
    threads: Vec<Numbered<'a>>,
    /// Whether all events are in one order.
    pub(crate) total: bool,
}

#[derive(Debug)]
struct Numbered<'a> {
    events: &'a [Event],
    /// The events that have a number, unless all do.
    some: Option<Vec<u32>>,
    /// What the thread did before its first event here was before this.
    start: u64,
}

impl<'a> Timestamps<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let threads = trace.threads.par_iter().map(|thread| {
            let events = thread.events.as_slice();
            let numbered = events.iter().enumerate().filter(|(_, it)| it.seq.is_some());
            let all = events.iter().all(|it| it.seq.is_some());
            let some = (!all).then(|| numbered.map(|(at, _)| narrow(at)).collect());
            Numbered { events, some, start: thread.after }
        });
        Timestamps { threads: threads.collect(), total: trace.order == Order::Global }
    }

    /// The earliest timestamp of an event.
    pub(crate) fn earliest(&self, thread: u16, index: u32) -> u64 {
        let numbered = &self.threads[usize::from(thread)];
        let at = match &numbered.some {
            None => Some(index),
            Some(some) => some[..some.partition_point(|it| *it <= index)].last().copied(),
        };
        at.and_then(|at| numbered.events[at as usize].seq).unwrap_or(numbered.start)
    }

    /// The latest timestamp of an event.
    pub(crate) fn latest(&self, thread: u16, index: u32) -> u64 {
        let numbered = &self.threads[usize::from(thread)];
        let at = match &numbered.some {
            None => Some(index),
            Some(some) => some.get(some.partition_point(|it| *it < index)).copied(),
        };
        at.and_then(|at| numbered.events[at as usize].seq).unwrap_or(u64::MAX)
    }
}
