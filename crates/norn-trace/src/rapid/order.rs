//! Finds an order of all events that is possible: each read comes after the write whose value it saw.
//!
//! Synchronisation is ordered in a trace, other accesses only within their threads. Between its
//! synchronisation operations a thread is let run as far as its reads agree with memory; a read that
//! does not agree waits for a write of another thread, and writes wait until no thread can read any
//! further. This finds a possible order for most runs, and the reads for which it does not are
//! counted: their values were written by code that is not recorded, or in an order that takes more
//! than this search.

use std::collections::VecDeque;

use norn_model::{Effect, Event, MemoryAccess, Op, Start, Value};

use super::memory::{Match, Memory, parts};

/// Number of bits of the table of written values, as a power of two.
const TABLE: u32 = 24;

/// The values that are written anywhere. Different values may be taken for one, which only makes reads
/// wait longer.
#[derive(Debug)]
pub(super) struct Written(Vec<u64>);

impl Written {
    pub(super) fn new(events: impl Iterator<Item = Event>) -> Written {
        let mut table = vec![0; 1 << (TABLE - 6)];
        for (access, value) in events.filter_map(|it| written(&it.op)) {
            for it in parts(access, value) {
                let (word, bit) = place(it);
                table[word] |= bit;
            }
        }
        Written(table)
    }

    fn has(&self, access: MemoryAccess, value: Value) -> bool {
        parts(access, value).all(|it| {
            let (word, bit) = place(it);
            self.0[word] & bit != 0
        })
    }
}

/// The place of a part of a value in the table.
fn place((word, bytes, mask): (u64, u64, u64)) -> (usize, u64) {
    // Fibonacci hashing: the high bits of the product depend on all bits.
    let hash = (word ^ bytes.rotate_left(17) ^ mask.rotate_left(41))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        >> (u64::BITS - TABLE);
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}

/// The events of a thread that are still to come.
struct Lane<I> {
    events: I,
    ahead: VecDeque<Event>,
    /// The sequence number of the last event, or a lower bound of the first.
    last: u64,
    next: Next,
}

/// The next sequence number of a thread.
#[derive(Clone, Copy)]
enum Next {
    Unknown,
    /// It was searched for; a thread may have none left.
    Known(Option<u64>),
}

impl<I: Iterator<Item = Event>> Lane<I> {
    fn head(&mut self) -> Option<Event> {
        if self.ahead.is_empty() {
            self.ahead.extend(self.events.next());
        }
        self.ahead.front().copied()
    }

    /// The next sequence number of the thread.
    fn number(&mut self) -> Option<u64> {
        if let Next::Known(next) = self.next {
            return next;
        }
        let mut number = self.ahead.iter().find_map(|it| it.seq);
        while number.is_none()
            && let Some(event) = self.events.next()
        {
            self.ahead.push_back(event);
            number = event.seq;
        }
        self.next = Next::Known(number);
        number
    }
}

/// Iterates over the events of all threads in a possible order.
pub(super) struct Possible<I> {
    lanes: Vec<Lane<I>>,
    memory: Memory,
    written: Written,
    /// The thread that goes on, as long as it can.
    current: usize,
    /// Number of reads whose values no order that was found explains.
    pub(super) unexplained: u64,
}

impl<I: Iterator<Item = Event>> Possible<I> {
    pub(super) fn new(lanes: Vec<(Start, I)>, written: Written) -> Self {
        let lane = |(start, events)| {
            let last = match start {
                Start::With(seq) => seq.saturating_sub(1),
                Start::After(seq) => seq,
            };
            Lane { events, ahead: VecDeque::new(), last, next: Next::Unknown }
        };
        let lanes = lanes.into_iter().map(lane).collect();
        Possible { lanes, memory: Memory::default(), written, current: 0, unexplained: 0 }
    }

    /// Takes the next event of a thread.
    fn take(&mut self, lane: usize) -> Option<Event> {
        self.current = lane;
        let event = self.lanes[lane].head()?;
        self.lanes[lane].ahead.pop_front();
        if let Some(seq) = event.seq {
            (self.lanes[lane].last, self.lanes[lane].next) = (seq, Next::Unknown);
        }
        if let Some((access, value)) = seen(&event.op) {
            let different = self.memory.compare(access, value) == Match::Different;
            self.unexplained += u64::from(different);
            if value.is_some() {
                self.memory.store(access, value);
            }
        }
        if let Some((access, value)) = written(&event.op) {
            self.memory.store(access, value);
        }
        Some(event)
    }

    /// Whether a thread can go on without changing memory.
    fn is_free(&mut self, lane: usize, least: u64) -> bool {
        let Some(event) = self.lanes[lane].head() else { return false };
        // A thread whose first events have no numbers begins after its creation.
        if event.seq.is_some() || self.lanes[lane].last > least || written(&event.op).is_some() {
            return false;
        }
        seen(&event.op).is_none_or(|(access, value)| match self.memory.compare(access, value) {
            Match::Same => true,
            Match::Unknown => !self.written.has(access, value),
            Match::Different => false,
        })
    }

    /// A thread whose next event is a write without a number that makes memory as a read expects it.
    fn helps(&mut self, (wanted, value): (MemoryAccess, Value)) -> Option<usize> {
        (0..self.lanes.len()).find(|&lane| {
            let head = self.lanes[lane].head().filter(|it| it.seq.is_none());
            head.and_then(|it| written(&it.op)).is_some_and(|(access, stored)| {
                let mut memory = Memory::default();
                memory.store(access, stored);
                memory.compare(wanted, value) == Match::Same && stored.is_some()
            })
        })
    }

    /// The thread that goes on when none can without changing memory.
    fn choose(&mut self) -> Option<usize> {
        let heads: Vec<_> = (0..self.lanes.len()).map(|it| self.lanes[it].head()).collect();
        let reads = heads.iter().flatten().filter(|it| it.seq.is_none());
        let wanted: Vec<_> = reads.filter_map(|it| seen(&it.op)).collect();
        if let Some(lane) = wanted.iter().find_map(|it| self.helps(*it)) {
            return Some(lane);
        }
        let numbers: Vec<_> = (0..heads.len()).map(|it| self.lanes[it].number()).collect();
        let open = (0..heads.len()).filter(|it| heads[*it].is_some());
        let first = open.min_by_key(|&it| (numbers[it].unwrap_or(u64::MAX), it))?;
        // The first synchronisation that is left may lead to the write that a read waits for.
        if heads[first].is_some_and(|it| it.seq.is_some()) {
            return Some(first);
        }
        let unnumbered = |lane: &usize| heads[*lane].is_some_and(|it| it.seq.is_none());
        let reads = |lane: &usize| heads[*lane].is_some_and(|it| seen(&it.op).is_some());
        // Memory that no write has reached yet has its initial value.
        let initial = (0..heads.len()).filter(unnumbered).filter(reads).find(|&lane| {
            let read = heads[lane].and_then(|it| seen(&it.op));
            read.is_some_and(|it| self.memory.compare(it.0, it.1) == Match::Unknown)
        });
        if initial.is_some() {
            return initial;
        }
        let stuck = unnumbered(&first) && reads(&first);
        let other = (0..heads.len()).find(|it| unnumbered(it) && !reads(it));
        if stuck { other.or(Some(first)) } else { Some(first) }
    }
}

impl<I: Iterator<Item = Event>> Iterator for Possible<I> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (count, current) = (self.lanes.len(), self.current);
        // Unnumbered events may come at any time after the last number of their thread; that of a thread
        // which has not begun must have been reached.
        let reached = self.lanes.iter().map(|it| it.last).max().unwrap_or(0);
        for lane in (0..count).map(|it| (current + it) % count) {
            if self.is_free(lane, reached) {
                return self.take(lane);
            }
        }
        let lane = self.choose()?;
        self.take(lane)
    }
}

/// What an operation reads, if it does.
fn seen(op: &Op) -> Option<(MemoryAccess, Value)> {
    let Effect::Access(access) = op.effect() else { return None };
    access.read.map(|value| (access, value))
}

/// What an operation writes, if it does.
fn written(op: &Op) -> Option<(MemoryAccess, Value)> {
    let Effect::Access(access) = op.effect() else { return None };
    access.write.map(|value| (access, value))
}
