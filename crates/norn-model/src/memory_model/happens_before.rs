//! Happens-before of one run, over all of its events.
//!
//! Locks count as well: in another run their sections may be exchanged, but in this one they were in
//! this order. Where a trace does not tell which of several operations a thread was woken by (posts
//! of a semaphore, signals of a condition, sends to an object of the kernel), all earlier ones count. So the relation may order more
//! than C++ does, never less, and what it leaves unordered is.

use rustc_hash::FxHashMap;

use super::{AtomicClocks, Barriers, Clock, ClockHistory, Clocks};
use crate::{
    AnnotationEffect, ChannelEffect, ConditionEffect, Effect, Event, EventId, Handlers, Held,
    LockEffect, LockMode, OnceEffect, Op, Ordering, SemaphoreEffect, ThreadEffect, ThreadId, Trace,
};

/// Which synchronisation counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// What atomic operations order.
    pub atomics: AtomicEdges,
    /// Whether the release of a lock comes before its next acquisition.
    pub locks: bool,
}

impl Edges {
    /// Happens-before as C++20 defines it.
    pub const CXX20: Edges = Edges { atomics: AtomicEdges::Declared, locks: true };
}

/// What atomic operations order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicEdges {
    /// What their memory orders say.
    Declared,
    /// What they would order if all of them were sequentially consistent: each handover of a value.
    SeqCst,
}

/// Which events of a run happen before which.
#[derive(Debug)]
pub struct HappensBefore {
    threads: Vec<ThreadId>,
    history: ClockHistory,
}

impl HappensBefore {
    /// Goes over a run once.
    pub fn new(trace: &Trace, edges: Edges) -> HappensBefore {
        let mut walk = Walk::new(trace, edges);
        for event in trace.merged() {
            walk.step(&event);
        }
        let threads = trace.threads.iter().map(|it| it.id).collect();
        HappensBefore { threads, history: walk.clocks.into_history() }
    }

    /// The clocks of all events, with threads counted from 0.
    pub fn into_history(self) -> ClockHistory {
        self.history
    }

    /// Whether one event happens before another.
    pub fn is_before(&self, one: EventId, other: EventId) -> bool {
        if one.thread == other.thread {
            return one.index < other.index;
        }
        let number = |id: EventId| self.threads.binary_search(&id.thread).ok();
        let (Some(from), Some(to)) = (number(one), number(other)) else { return false };
        one.index < u64::from(self.history.before(to, narrow(other.index), from))
    }

    /// The first event of another thread that comes after an event.
    pub fn first_after(&self, one: EventId, thread: ThreadId) -> Option<EventId> {
        let number = |it: ThreadId| self.threads.binary_search(&it).ok();
        let (from, to) = (number(one.thread)?, number(thread)?);
        let index = self.history.after(from, narrow(one.index), to);
        (index != u32::MAX).then_some(EventId { thread, index: index.into() })
    }
}

/// Indices have 32 bits here; a thread with more events does not fit into memory.
fn narrow(index: u64) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

struct Walk<'a> {
    trace: &'a Trace,
    edges: Edges,
    clocks: Clocks,
    atomics: AtomicClocks,
    held: Vec<Held>,
    /// By lock: what those that held it exclusively released, and what readers released.
    exclusive: FxHashMap<u64, Clock>,
    shared: FxHashMap<u64, Clock>,
    /// By condition, semaphore, once-only initialisation, annotated object or channel, whose number is
    /// inverted to tell it from an address: what was announced.
    announced: FxHashMap<u64, Clock>,
    barriers: Barriers,
    handlers: Handlers,
    /// By thread: the index of its next event.
    next: Vec<u32>,
}

/// An event: the thread, counted from 0, and the index in it.
type Place = (usize, u32);

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace, edges: Edges) -> Self {
        let threads = trace.threads.len();
        Walk {
            trace,
            edges,
            clocks: Clocks::new(threads),
            atomics: AtomicClocks::new(threads),
            held: vec![Held::default(); threads],
            exclusive: FxHashMap::default(),
            shared: FxHashMap::default(),
            announced: FxHashMap::default(),
            barriers: Barriers::default(),
            handlers: Handlers::new(trace),
            next: vec![0; threads],
        }
    }

    fn number(&self, thread: ThreadId) -> Option<usize> {
        self.trace.threads.binary_search_by_key(&thread, |it| it.id).ok()
    }

    fn step(&mut self, event: &Event) {
        let Some(thread) = self.number(event.id.thread) else { return };
        let at = (thread, narrow(event.id.index));
        self.next[thread] = at.1 + 1;
        let effect = event.op.effect();
        if let Some(effect) = effect.lock().filter(|_| self.edges.locks) {
            self.lock(at, effect);
        }
        self.handler(at, &event.op);
        match effect {
            Effect::Access(_) | Effect::None => self.atomic(at, &event.op),
            Effect::Thread(effect) => self.thread(at, effect),
            Effect::Condition(ConditionEffect::Signal { cond: object, .. })
            | Effect::Semaphore(SemaphoreEffect::Post { semaphore: object })
            | Effect::Once(OnceEffect::End { once: object, .. })
            | Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                self.announce(at, object);
            }
            Effect::Condition(ConditionEffect::Wake { cond: object, .. })
            | Effect::Semaphore(SemaphoreEffect::Wait { semaphore: object, .. })
            | Effect::Once(
                OnceEffect::Begin { once: object } | OnceEffect::Done { once: object },
            )
            | Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                self.hear(at, object);
            }
            Effect::Channel(ChannelEffect::Send { channel, .. }) => self.announce(at, !channel),
            Effect::Channel(ChannelEffect::Receive { channel, .. }) => self.hear(at, !channel),
            Effect::Barrier(effect) => self.barriers.step(&mut self.clocks, at, effect),
            Effect::Condition(ConditionEffect::Wait { .. })
            | Effect::Semaphore(SemaphoreEffect::Init { .. } | SemaphoreEffect::Failed { .. })
            | Effect::Lock(_)
            | Effect::Block(_)
            | Effect::Object(_) => {}
        }
    }

    /// A handler runs on the thread that it interrupts: what the thread did before comes before it,
    /// and it comes before what the thread does afterwards.
    fn handler(&mut self, (thread, index): Place, op: &Op) {
        let Some(host) = self.handlers.host(self.trace.threads[thread].id) else { return };
        let Some(host) = self.number(host) else { return };
        let next = self.next[host];
        if matches!(op, Op::HandlerBegin { .. }) && next > 0 {
            let before = self.now((host, next - 1));
            self.clocks.learn(thread, index, &before);
        } else if *op == Op::HandlerEnd {
            let end = self.now((thread, index));
            self.clocks.learn(host, next, &end);
        }
    }

    fn now(&self, (thread, index): Place) -> Clock {
        self.clocks.after(thread, index)
    }

    fn announce(&mut self, at: Place, object: u64) {
        let now = self.now(at);
        self.announced.entry(object).or_default().join(&now);
    }

    fn hear(&mut self, (thread, index): Place, object: u64) {
        if let Some(clock) = self.announced.get(&object) {
            self.clocks.learn(thread, index, clock);
        }
    }

    fn thread(&mut self, at @ (thread, index): Place, effect: ThreadEffect) {
        match effect {
            ThreadEffect::Fork(child) => {
                if let Some(child) = self.number(child) {
                    let now = self.now(at);
                    self.clocks.learn(child, 0, &now);
                }
            }
            ThreadEffect::Join(child) => {
                if let Some(child) = self.number(child)
                    && let Some(last) = self.trace.threads[child].events.len().checked_sub(1)
                {
                    let end = self.now((child, narrow(last as u64)));
                    self.clocks.learn(thread, index, &end);
                }
            }
        }
    }

    fn lock(&mut self, at @ (thread, index): Place, effect: LockEffect) {
        match effect {
            LockEffect::Acquire { lock, mode, .. } => {
                self.held[thread].acquire(lock, mode);
                // Readers do not order each other.
                let readers = self.shared.get(&lock).filter(|_| mode != LockMode::Read);
                for clock in self.exclusive.get(&lock).into_iter().chain(readers) {
                    self.clocks.learn(thread, index, clock);
                }
            }
            LockEffect::Release { lock, .. } => {
                let mode = self.held[thread].release(lock).map(|it| it.0);
                let now = self.now(at);
                let shares = mode == Some(LockMode::Read);
                let clocks = if shares { &mut self.shared } else { &mut self.exclusive };
                clocks.entry(lock).or_default().join(&now);
            }
            LockEffect::Failed { .. } => {}
        }
    }

    /// Atomic operations and fences, whose memory order no effect has.
    fn atomic(&mut self, at: Place, op: &Op) {
        let seen = |ordering| match self.edges.atomics {
            AtomicEdges::Declared => ordering,
            AtomicEdges::SeqCst => Ordering::SeqCst,
        };
        if let Op::Atomic { addr, ordering, op, .. } = *op {
            self.atomics.step(&mut self.clocks, at, addr, seen(ordering), op);
        } else if let Op::Fence(ordering) = *op {
            self.atomics.fence(&mut self.clocks, at, seen(ordering));
        }
    }
}
