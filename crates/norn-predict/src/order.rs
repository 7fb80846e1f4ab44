//! Which events must come before which, whatever the schedule.
//!
//! Threads are ordered where they meet: fork and join, a wait and the signal that woke it, barriers,
//! semaphores, once-only initialisation, annotations, and, in the [full](Meetings::All) order,
//! atomic operations that acquire what others released. Locks order nothing: their sections can be
//! exchanged. As in the paper of Huang and Zhang (ISSTA 2011), only these events are kept, and
//! the order of any two events is asked for on demand. Instead of their quadratic table we store
//! for each pair of threads how far one has come when the other learns something new about it:
//! a vector clock, taken apart, in which only what changes takes room.
//!
//! The order of atomic operations is what happened, not what must: a flag can be read before it is
//! set. We keep it for plain accesses, since what a program guards by flags is rarely broken, and
//! drop it where the anomaly is about atomic operations themselves.

use norn_model::{EventId, Op, ThreadId, Trace, WokenBy};
use rustc_hash::FxHashMap;

use crate::{
    atomic::Atomics,
    barrier::Barrier,
    clock::{Clock, Clocks},
    outline::{Outline, narrow},
    semaphore::Semaphores,
};

/// Which meetings of threads count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meetings {
    /// Those that no schedule can avoid.
    Forced,
    /// Also an acquiring atomic operation that reads what a releasing one wrote.
    All,
}

/// Which events must come before which. Threads are counted as they are in the trace.
#[derive(Debug)]
pub(crate) struct Order {
    /// By thread, then by other thread: from which event on how many of the other's are before.
    known: Vec<FxHashMap<u32, Vec<Known>>>,
}

/// From event `from` on, the first `upto` events of the other thread are before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) from: u32,
    pub(crate) upto: u32,
}

impl Order {
    /// Goes through the meetings of all threads in the order in which they happened.
    pub(crate) fn new(trace: &Trace, outlines: &[Outline], meetings: Meetings) -> Order {
        let mut walk = Walk::new(trace, outlines, meetings);
        for (thread, index) in in_sequence(trace, outlines) {
            let event = &trace.threads[thread].events[index as usize];
            walk.step(thread, index, &event.op);
        }
        Order { known: walk.clocks.known }
    }

    /// How many events of another thread must come before an event.
    pub(crate) fn before(&self, thread: u16, index: u32, other: u16) -> u32 {
        let known = self.known[usize::from(thread)].get(&u32::from(other));
        let known = known.map_or(&[][..], Vec::as_slice);
        let at = known.partition_point(|it| it.from <= index);
        at.checked_sub(1).map_or(0, |at| known[at].upto)
    }

    /// The first event of another thread that must come after an event.
    pub(crate) fn after(&self, thread: u16, index: u32, other: u16) -> u32 {
        let known = self.known[usize::from(other)].get(&u32::from(thread));
        let known = known.map_or(&[][..], Vec::as_slice);
        known.get(known.partition_point(|it| it.upto <= index)).map_or(u32::MAX, |it| it.from)
    }
}

/// The meetings of all threads, in their recorded order.
fn in_sequence(trace: &Trace, outlines: &[Outline]) -> Vec<(usize, u32)> {
    let mut meetings = Vec::with_capacity(outlines.iter().map(|it| it.meetings.len()).sum());
    for (thread, outline) in outlines.iter().enumerate() {
        // An event without a number is right behind the last that has one.
        let mut last = 0;
        for &index in &outline.meetings {
            let event = &trace.threads[thread].events[index as usize];
            last = event.seq.unwrap_or(last).max(last);
            meetings.push((last, thread, index));
        }
    }
    meetings.sort_unstable();
    meetings.into_iter().map(|(_, thread, index)| (thread, index)).collect()
}

struct Walk<'a> {
    trace: &'a Trace,
    meetings: Meetings,
    clocks: Clocks,
    /// What signals and broadcasts know, for those that they wake.
    signals: FxHashMap<EventId, Clock>,
    barriers: FxHashMap<u64, Barrier>,
    semaphores: Semaphores,
    once: FxHashMap<u64, Clock>,
    announced: FxHashMap<u64, Clock>,
    atomics: Atomics,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace, outlines: &[Outline], meetings: Meetings) -> Self {
        let threads = trace.threads.len();
        Walk {
            trace,
            meetings,
            clocks: Clocks::new(threads),
            signals: FxHashMap::default(),
            barriers: FxHashMap::default(),
            semaphores: Semaphores::new(trace, outlines),
            once: FxHashMap::default(),
            announced: FxHashMap::default(),
            atomics: Atomics::new(threads),
        }
    }

    fn number(&self, thread: ThreadId) -> Option<usize> {
        self.trace.threads.binary_search_by_key(&thread, |it| it.id).ok()
    }

    fn step(&mut self, thread: usize, index: u32, op: &Op) {
        match *op {
            Op::Fork(child) => {
                if let Some(child) = self.number(child) {
                    let now = self.clocks.after(thread, index);
                    self.clocks.learn(child, 0, &now);
                }
            }
            Op::Join(child) => {
                if let Some(child) = self.number(child)
                    && let Some(last) = self.trace.threads[child].events.len().checked_sub(1)
                {
                    let end = self.clocks.after(child, narrow(last));
                    self.clocks.learn(thread, index, &end);
                }
            }
            Op::Signal { .. } | Op::Broadcast { .. } => {
                let id = EventId { thread: self.trace.threads[thread].id, index: index.into() };
                self.signals.insert(id, self.clocks.after(thread, index));
            }
            Op::WaitAcquire { woken: WokenBy::Event(signal), .. } => {
                if let Some(clock) = self.signals.get(&signal) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            _ => self.meet(thread, index, op),
        }
    }

    fn meet(&mut self, thread: usize, index: u32, op: &Op) {
        match *op {
            Op::BarrierEnter { barrier } => {
                let now = self.clocks.after(thread, index);
                self.barriers.entry(barrier).or_default().enter(thread, &now);
            }
            Op::BarrierLeave { barrier, .. } => {
                if let Some(all) = self.barriers.entry(barrier).or_default().leave(thread) {
                    self.clocks.learn(thread, index, all);
                }
            }
            Op::SemPost { semaphore } => {
                let now = self.clocks.after(thread, index);
                self.semaphores.post(semaphore, thread, now);
            }
            Op::SemWait { semaphore, .. } => {
                for clock in self.semaphores.wait(semaphore, thread, index) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            Op::OnceEnd { once, done: true } => {
                self.once.insert(once, self.clocks.after(thread, index));
            }
            Op::OnceDone { once } => {
                if let Some(clock) = self.once.get(&once) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            Op::HappensBefore { object } => {
                let now = self.clocks.after(thread, index);
                self.announced.entry(object).or_default().join(&now);
            }
            Op::HappensAfter { object } => {
                if let Some(clock) = self.announced.get(&object) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            Op::Atomic { addr, ordering, op, .. } if self.meetings == Meetings::All => {
                self.atomics.step(&mut self.clocks, (thread, index), addr, ordering, op);
            }
            Op::Fence(ordering) if self.meetings == Meetings::All => {
                self.atomics.fence(&mut self.clocks, (thread, index), ordering);
            }
            _ => {}
        }
    }
}
