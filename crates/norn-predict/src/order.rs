//! The order of events that holds in every schedule.
//!
//! Threads are ordered by synchronisation: fork and join, a wait and the signal that ended it,
//! barriers, semaphores, once-only initialisation, annotations, what is sent and received through
//! the kernel, and, in the [full](SyncEdges::All) order, acquiring atomic operations that read from
//! releasing ones. Locks order nothing: their critical sections can be exchanged. As in the paper of
//! Huang and Zhang (ISSTA 2011), only these events are stored, and the order of any two events is computed on demand. Instead of their
//! quadratic table we store vector clocks by component ([`ClockHistory`]).
//!
//! The order by atomic operations is recorded, not necessary: a flag can be read before it is set.
//! We keep it for plain accesses, since data guarded by flags is rarely racy, and drop it where the
//! candidate consists of atomic operations themselves. It is the order of C++20
//! ([`norn_model::memory_model`]): a relaxed operation orders nothing, although a schedule may have to
//! keep the value that it read.

use norn_model::{
    AnnotationEffect, ChannelEffect, Channels, ConditionEffect, Effect, EventId, Handlers,
    OnceEffect, Op, SemaphoreEffect, ThreadEffect, ThreadId, Trace, WokenBy,
    memory_model::{AtomicClocks, Barriers, Clock, ClockHistory, Clocks, Edges, HappensBefore},
};
use rustc_hash::FxHashMap;

use crate::{
    outline::{Outline, narrow},
    semaphore::Semaphores,
};

/// The synchronisation that orders events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncEdges {
    /// Only edges that hold in every schedule.
    Forced,
    /// Also edges from releasing atomic operations to acquiring ones that read from them.
    All,
}

/// The order of events. Threads are numbered as in the trace.
#[derive(Debug)]
pub(crate) struct Order(ClockHistory);

impl Order {
    /// Visits the synchronisation points of all threads in recorded order.
    pub(crate) fn new(trace: &Trace, outlines: &[Outline], edges: SyncEdges) -> Order {
        let mut walk = Walk::new(trace, outlines, edges);
        for (thread, index) in in_sequence(trace, outlines) {
            let event = &trace.threads[thread].events[index as usize];
            walk.step(thread, index, &event.op);
        }
        Order(walk.clocks.into_history())
    }

    /// Happens-before of the recorded run, in which critical sections are ordered, too. Two events
    /// that it leaves unordered can be exchanged without moving any synchronisation.
    pub(crate) fn recorded(trace: &Trace) -> Order {
        Order(HappensBefore::new(trace, Edges::CXX20).into_history())
    }

    /// Whether it orders two events of different threads.
    pub(crate) fn is_ordered(&self, one: (u16, u32), other: (u16, u32)) -> bool {
        one.1 < self.before(other.0, other.1, one.0) || other.1 < self.before(one.0, one.1, other.0)
    }

    /// Number of events of another thread that come before an event.
    pub(crate) fn before(&self, thread: u16, index: u32, other: u16) -> u32 {
        self.0.before(thread.into(), index, other.into())
    }

    /// The first event of another thread that comes after an event.
    pub(crate) fn after(&self, thread: u16, index: u32, other: u16) -> u32 {
        self.0.after(thread.into(), index, other.into())
    }
}

/// The synchronisation points of all threads, in recorded order.
fn in_sequence(trace: &Trace, outlines: &[Outline]) -> Vec<(usize, u32)> {
    let mut points = Vec::with_capacity(outlines.iter().map(|it| it.sync_points.len()).sum());
    for (thread, outline) in outlines.iter().enumerate() {
        // An event without a number directly follows the last numbered one.
        let mut last = 0;
        for &index in &outline.sync_points {
            let event = &trace.threads[thread].events[index as usize];
            last = event.seq.unwrap_or(last).max(last);
            points.push((last, thread, index));
        }
    }
    points.sort_unstable();
    points.into_iter().map(|(_, thread, index)| (thread, index)).collect()
}

struct Walk<'a> {
    trace: &'a Trace,
    edges: SyncEdges,
    clocks: Clocks,
    /// By signal or broadcast: its clock, for the waits that it ended.
    signals: FxHashMap<EventId, Clock>,
    barriers: Barriers,
    semaphores: Semaphores,
    once: FxHashMap<u64, Clock>,
    announced: FxHashMap<u64, Clock>,
    sends: Channels<Clock>,
    atomics: AtomicClocks,
    handlers: Handlers,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace, outlines: &[Outline], edges: SyncEdges) -> Self {
        let threads = trace.threads.len();
        Walk {
            trace,
            edges,
            clocks: Clocks::new(threads),
            signals: FxHashMap::default(),
            barriers: Barriers::default(),
            semaphores: Semaphores::new(trace, outlines),
            once: FxHashMap::default(),
            announced: FxHashMap::default(),
            sends: Channels::default(),
            atomics: AtomicClocks::new(threads),
            handlers: Handlers::new(trace),
        }
    }

    fn number(&self, thread: ThreadId) -> Option<usize> {
        self.trace.threads.binary_search_by_key(&thread, |it| it.id).ok()
    }

    /// Signal handlers run on a thread after it has begun and before it ends.
    fn handlers(&mut self, thread: usize, index: u32, op: &Op) {
        let begins = matches!(op, Op::Begin { .. });
        if !begins && *op != Op::End {
            return;
        }
        let streams: Vec<_> = self.handlers.of(self.trace.threads[thread].id).collect();
        for stream in streams {
            let effect =
                if begins { ThreadEffect::Fork(stream) } else { ThreadEffect::Join(stream) };
            self.thread(thread, index, effect);
        }
    }

    fn step(&mut self, thread: usize, index: u32, op: &Op) {
        self.handlers(thread, index, op);
        match op.effect() {
            Effect::Thread(effect) => self.thread(thread, index, effect),
            Effect::Condition(effect) => self.condition(thread, index, effect),
            Effect::Barrier(effect) => {
                self.barriers.step(&mut self.clocks, (thread, index), effect);
            }
            Effect::Semaphore(effect) => self.semaphore(thread, index, effect),
            Effect::Once(effect) => self.once(thread, index, effect),
            Effect::Annotation(effect) => self.annotation(thread, index, effect),
            Effect::Channel(effect) => self.channel(thread, index, effect),
            Effect::Access(_) | Effect::None if self.edges == SyncEdges::All => {
                self.atomic(thread, index, op);
            }
            // Critical sections of a lock can be exchanged, and memory accesses order nothing by
            // themselves.
            Effect::Access(_)
            | Effect::None
            | Effect::Lock(_)
            | Effect::Block(_)
            | Effect::Object(_) => {}
        }
    }

    fn thread(&mut self, thread: usize, index: u32, effect: ThreadEffect) {
        match effect {
            ThreadEffect::Fork(child) => {
                if let Some(child) = self.number(child) {
                    let now = self.clocks.after(thread, index);
                    self.clocks.learn(child, 0, &now);
                }
            }
            ThreadEffect::Join(child) => {
                if let Some(child) = self.number(child)
                    && let Some(last) = self.trace.threads[child].events.len().checked_sub(1)
                {
                    let end = self.clocks.after(child, narrow(last));
                    self.clocks.learn(thread, index, &end);
                }
            }
        }
    }

    fn condition(&mut self, thread: usize, index: u32, effect: ConditionEffect) {
        match effect {
            ConditionEffect::Signal { .. } => {
                let id = EventId { thread: self.trace.threads[thread].id, index: index.into() };
                self.signals.insert(id, self.clocks.after(thread, index));
            }
            ConditionEffect::Wake { woken, .. } => {
                if let WokenBy::Event(signal) = woken
                    && let Some(clock) = self.signals.get(&signal)
                {
                    self.clocks.learn(thread, index, clock);
                }
            }
            ConditionEffect::Wait { .. } => {}
        }
    }

    fn semaphore(&mut self, thread: usize, index: u32, effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Post { semaphore } => {
                let now = self.clocks.after(thread, index);
                self.semaphores.post(semaphore, thread, now);
            }
            SemaphoreEffect::Wait { semaphore, .. } => {
                for clock in self.semaphores.wait(semaphore, thread, index) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            SemaphoreEffect::Init { .. } | SemaphoreEffect::Failed { .. } => {}
        }
    }

    fn once(&mut self, thread: usize, index: u32, effect: OnceEffect) {
        match effect {
            OnceEffect::End { once, done: true } => {
                self.once.insert(once, self.clocks.after(thread, index));
            }
            OnceEffect::Done { once } => {
                if let Some(clock) = self.once.get(&once) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            OnceEffect::Begin { .. } | OnceEffect::End { done: false, .. } => {}
        }
    }

    fn annotation(&mut self, thread: usize, index: u32, effect: AnnotationEffect) {
        match effect {
            AnnotationEffect::HappensBefore { object } => {
                let now = self.clocks.after(thread, index);
                self.announced.entry(object).or_default().join(&now);
            }
            AnnotationEffect::HappensAfter { object } => {
                if let Some(clock) = self.announced.get(&object) {
                    self.clocks.learn(thread, index, clock);
                }
            }
        }
    }

    fn channel(&mut self, thread: usize, index: u32, effect: ChannelEffect) {
        match effect {
            ChannelEffect::Send { channel, from, to } => {
                self.sends.send(channel, from, to, self.clocks.after(thread, index));
            }
            ChannelEffect::Receive { channel, from, to, .. } => {
                for clock in self.sends.sends(channel, from, to) {
                    self.clocks.learn(thread, index, clock);
                }
            }
        }
    }

    /// Atomic operations and fences, whose memory order is not part of an effect.
    fn atomic(&mut self, thread: usize, index: u32, op: &Op) {
        if let Op::Atomic { addr, ordering, op, .. } = *op {
            self.atomics.step(&mut self.clocks, (thread, index), addr, ordering, op);
        } else if let Op::Fence(ordering) = *op {
            self.atomics.fence(&mut self.clocks, (thread, index), ordering);
        }
    }
}
