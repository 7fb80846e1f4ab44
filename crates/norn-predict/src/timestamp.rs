//! The times of accesses, as far as a trace determines them.
//!
//! Synchronisation has sequence numbers, and in the trace of a controlled run so has the first
//! event of each turn. An event without one directly follows the last numbered one, as in
//! [`norn_model::Merged`]: in a totally ordered run, that is its exact time. Otherwise it is the
//! earliest possible time, and the next number of its thread is the latest.

use norn_model::{Event, Order, Trace};
use rayon::prelude::*;

use crate::outline::narrow;

/// The timestamps of events.
#[derive(Debug)]
pub(crate) struct Timestamps<'a> {
    threads: Vec<Numbered<'a>>,
    /// Whether all events are totally ordered.
    pub(crate) total: bool,
}

#[derive(Debug)]
struct Numbered<'a> {
    events: &'a [Event],
    /// The events that have a number, unless all do.
    some: Option<Vec<u32>>,
    /// A lower bound of the thread's first event here.
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

    /// The latest timestamp of an event. There may be an event after the last one of the trace.
    pub(crate) fn latest(&self, thread: u16, index: u32) -> u64 {
        let numbered = &self.threads[usize::from(thread)];
        let at = match &numbered.some {
            None => Some(index),
            Some(some) => some.get(some.partition_point(|it| *it < index)).copied(),
        };
        at.and_then(|at| numbered.events.get(at as usize)?.seq).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    #[test]
    fn what_follows_the_last_event_has_no_latest_time() {
        // Only some of the second thread's events have numbers.
        let mut trace = text::parse("T1 acq l\nT1 rel l\nT2 acq l\nT2 r x 0").unwrap();
        for (thread, seqs) in trace.threads.iter_mut().zip([[Some(1), Some(2)], [Some(3), None]]) {
            for (event, seq) in thread.events.iter_mut().zip(seqs) {
                event.seq = seq;
            }
        }
        let timestamps = Timestamps::new(&trace);
        assert_eq!((timestamps.earliest(0, 1), timestamps.latest(0, 1)), (2, 2));
        assert_eq!(timestamps.latest(0, 2), u64::MAX);
        assert_eq!((timestamps.earliest(1, 1), timestamps.latest(1, 1)), (3, u64::MAX));
        assert_eq!(timestamps.latest(1, 2), u64::MAX);
    }
}
