//! All threads' events in one order.
//!
//! A trace orders the events of each thread, and all that have a sequence number. An event without
//! one may have been anywhere between its neighbours that have one. We put it as early as it can
//! be: a thread goes on until its next numbered event, and then waits until all smaller numbers
//! have been. That needs no look-ahead, and the same trace always gives the same order. In a trace
//! with global order every event has a number, and the order is theirs.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::Event;

/// The events of one thread, which are not looked at before their turn.
#[derive(Clone, Copy, Debug)]
pub struct Stream<F> {
    /// Where its first event is.
    pub start: Start,
    /// Makes the iterator over its events.
    pub open: F,
}

/// Where the first event of a thread is in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It has this sequence number.
    With(u64),
    /// It has none, and comes after the event with this one.
    After(u64),
}

/// A sequence number, whether it is passed already, and the stream that is there.
type Turn = (u64, bool, usize);

/// Goes through all events in an order that they may have had.
#[derive(Debug)]
pub struct Merged<F, I> {
    streams: Vec<State<F, I>>,
    waiting: BinaryHeap<Reverse<Turn>>,
    current: Option<Turn>,
}

#[derive(Debug)]
enum State<F, I> {
    Closed(F),
    /// The events, and the one that is next if it was already taken.
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
            merged.streams.push(State::Closed(stream.open));
        }
        merged
    }

    /// Takes the next event of a stream; the stream is let go of at its end.
    fn take(&mut self, at: usize) -> Option<Event> {
        let state = self.streams.get_mut(at)?;
        if let State::Closed(_) = state
            && let State::Closed(open) = std::mem::replace(state, State::Done)
        {
            *state = State::Open(open(), None);
        }
        let State::Open(events, next) = state else { return None };
        let event = next.take().or_else(|| events.next());
        if event.is_none() {
            *state = State::Done;
        }
        event
    }

    /// Lets a stream wait with the event that it has come to.
    fn wait(&mut self, turn: Turn, event: Event) {
        if let Some(State::Open(_, next)) = self.streams.get_mut(turn.2) {
            *next = Some(event);
        }
        self.waiting.push(Reverse(turn));
    }

    /// Whether another stream must go first.
    fn is_late(&self, turn: Turn) -> bool {
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
            // Damaged traces may count backwards: program order is kept nevertheless.
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
