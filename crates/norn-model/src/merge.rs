//! Merges the events of all threads into one order.
//!
//! A trace orders the events of each thread, and all events with a sequence number. An event
//! without one happened somewhere between its numbered neighbours. It is placed as early as
//! possible: a thread continues up to its next numbered event, and then waits until all smaller
//! numbers have been output. This needs no look-ahead, and the same trace always gives the same
//! order. In a trace with a global order every event has a number, and the numbers are the order.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::Event;

/// The events of one thread, opened on demand.
#[derive(Clone, Copy, Debug)]
pub struct Stream<F> {
    /// The position of its first event.
    pub start: Start,
    /// Creates the iterator over its events.
    pub open: F,
}

/// The position of the first event of a thread in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It has this sequence number.
    With(u64),
    /// It has none, and comes after the event with this number.
    After(u64),
}

/// A position in the order: a sequence number, whether it is already passed, and the stream.
type Position = (u64, bool, usize);

/// Iterates over all events in an order that is consistent with the trace.
#[derive(Debug)]
pub struct Merged<F, I> {
    streams: Vec<StreamState<F, I>>,
    waiting: BinaryHeap<Reverse<Position>>,
    current: Option<Position>,
}

#[derive(Debug)]
enum StreamState<F, I> {
    Closed(F),
    /// The events, and the next one if it was already taken from the iterator.
    Open(I, Option<Event>),
    Done,
}

impl<F: FnOnce() -> I, I: Iterator<Item = Event>> Merged<F, I> {
    /// Merges streams. Of equal numbers, the earlier stream comes first.
    pub fn new(streams: impl IntoIterator<Item = Stream<F>>) -> Self {
        let mut merged = Merged { streams: Vec::new(), waiting: BinaryHeap::new(), current: None };
        for (at, stream) in streams.into_iter().enumerate() {
            merged.waiting.push(Reverse(match stream.start {
                Start::With(seq) => (seq, false, at),
                Start::After(seq) => (seq, true, at),
            }));
            merged.streams.push(StreamState::Closed(stream.open));
        }
        merged
    }

    /// Takes the next event of a stream; the stream is dropped at its end.
    fn take(&mut self, at: usize) -> Option<Event> {
        let state = self.streams.get_mut(at)?;
        if let StreamState::Closed(_) = state
            && let StreamState::Closed(open) = std::mem::replace(state, StreamState::Done)
        {
            *state = StreamState::Open(open(), None);
        }
        let StreamState::Open(events, next) = state else { return None };
        let event = next.take().or_else(|| events.next());
        if event.is_none() {
            *state = StreamState::Done;
        }
        event
    }

    /// Queues a stream with its next event.
    fn wait(&mut self, turn: Position, event: Event) {
        if let Some(StreamState::Open(_, next)) = self.streams.get_mut(turn.2) {
            *next = Some(event);
        }
        self.waiting.push(Reverse(turn));
    }

    /// Whether another stream comes first.
    fn is_late(&self, turn: Position) -> bool {
        self.waiting.peek().is_some_and(|&Reverse(first)| first < turn)
    }
}

impl<F: FnOnce() -> I, I: Iterator<Item = Event>> Iterator for Merged<F, I> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        loop {
            let now = match self.current.take() {
                Some(current) => current,
                None => self.waiting.pop()?.0,
            };
            let Some(event) = self.take(now.2) else { continue };
            // In damaged traces numbers may decrease: program order is kept nevertheless.
            if let Some(seq) = event.seq
                && seq > now.0
            {
                let turn = (seq, false, now.2);
                if self.is_late(turn) {
                    self.wait(turn, event);
                    continue;
                }
                self.current = Some(turn);
            } else {
                self.current = Some(now);
            }
            return Some(event);
        }
    }
}
