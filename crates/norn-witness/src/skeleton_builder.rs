//! Builds the synchronisation skeleton of a trace in one pass.

use std::collections::BTreeSet;

use norn_model::{
    AnnotationEffect, BarrierEffect, BlockEffect, ChannelEffect, Channels, ConditionEffect, Effect,
    EventId, Handlers, LockEffect, LockMode, OnceEffect, Op, Outcome, SemaphoreEffect,
    ThreadEffect, ThreadId, Trace, WokenBy, mutexes,
};
use rustc_hash::FxHashMap;

use crate::{
    recorded_order::RecordedOrder,
    sync_skeleton::{ByThread, EventPos, SyncOp, SyncSkeleton, SyncStep, ThreadSkeleton},
};

/// Numbers for objects.
#[derive(Default)]
struct Numbers(FxHashMap<u64, u32>);

impl Numbers {
    fn of(&mut self, object: u64) -> u32 {
        let next = narrow(self.0.len());
        *self.0.entry(object).or_insert(next)
    }
}

/// A lock that a thread holds: which, how many times, and the step that acquired it.
struct Hold {
    lock: u32,
    depth: u32,
    step: usize,
}

/// Builds a skeleton, event by event.
pub(crate) struct SkeletonBuilder<'a> {
    trace: &'a Trace,
    skeleton: SyncSkeleton,
    /// Semaphores that are used as mutexes.
    mutexes: BTreeSet<u64>,
    locks: Numbers,
    conds: Numbers,
    semaphores: Numbers,
    held: Vec<Vec<Hold>>,
    /// By thread: the event that began its wait, and whether the wait has a time limit.
    waits: Vec<Option<(EventPos, bool)>>,
    /// By semaphore: its value relative to its first, and whether its initialisation was recorded.
    counts: Vec<i64>,
    known: Vec<bool>,
    /// By barrier: the threads in the open round, and whether the round is over.
    arrived: FxHashMap<u64, (Vec<EventPos>, bool)>,
    /// By barrier and thread: the round that the thread is in.
    rounds: FxHashMap<(u64, u32), Vec<EventPos>>,
    once: FxHashMap<u64, EventPos>,
    announced: FxHashMap<u64, Vec<EventPos>>,
    sends: Channels<EventPos>,
    /// By address: the event that allocated it.
    blocks: FxHashMap<u64, EventPos>,
    handlers: Handlers,
}

fn narrow(it: usize) -> u32 {
    u32::try_from(it).unwrap_or(u32::MAX)
}

impl<'a> SkeletonBuilder<'a> {
    pub(crate) fn new(trace: &'a Trace, segment: usize) -> Self {
        let thread = |it: &norn_model::Thread| ThreadSkeleton {
            len: narrow(it.events.len()),
            ..ThreadSkeleton::default()
        };
        let threads: Vec<_> = trace.threads.iter().map(thread).collect();
        let events = trace.threads.iter().flat_map(|it| &it.events);
        SkeletonBuilder {
            trace,
            held: threads.iter().map(|_| Vec::new()).collect(),
            waits: vec![None; threads.len()],
            skeleton: SyncSkeleton {
                order: RecordedOrder::new(threads.len(), segment),
                threads,
                required: Vec::new(),
                signals: Vec::new(),
                posts: Vec::new(),
                ended: FxHashMap::default(),
                semaphores: Vec::new(),
                locks: 0,
            },
            mutexes: mutexes(events.map(|it| (it.id.thread, &it.op))),
            locks: Numbers::default(),
            conds: Numbers::default(),
            semaphores: Numbers::default(),
            counts: Vec::new(),
            known: Vec::new(),
            arrived: FxHashMap::default(),
            rounds: FxHashMap::default(),
            once: FxHashMap::default(),
            announced: FxHashMap::default(),
            sends: Channels::default(),
            blocks: FxHashMap::default(),
            handlers: Handlers::new(trace),
        }
    }

    fn number(&self, id: ThreadId) -> Option<u32> {
        self.trace.threads.binary_search_by_key(&id, |it| it.id).ok().map(narrow)
    }

    fn position(&self, id: EventId) -> Option<EventPos> {
        Some((self.number(id.thread)?, u32::try_from(id.index).ok()?))
    }

    /// Adds the next event of the recorded run.
    pub(crate) fn event(&mut self, id: EventId, op: &Op) {
        let Some(at) = self.position(id) else { return };
        self.skeleton.order.push(at);
        self.handler(at, op);
        match op.effect() {
            Effect::Thread(effect) => self.thread(at, effect),
            Effect::Lock(effect) => self.lock(at, effect),
            Effect::Condition(effect) => self.condition(at, effect),
            Effect::Barrier(effect) => self.barrier(at, effect),
            Effect::Semaphore(effect) => self.semaphore(at, effect),
            Effect::Once(effect) => self.once(at, effect),
            Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                self.announced.entry(object).or_default().push(at);
            }
            Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                let before = self.announced.get(&object).cloned().unwrap_or_default();
                self.require(at, before);
            }
            Effect::Channel(ChannelEffect::Send { channel, from, to }) => {
                self.sends.send(channel, from, to, at);
            }
            Effect::Channel(ChannelEffect::Receive { channel, from, to, timed }) => {
                let sends = self.sends.sends(channel, from, to).copied().collect();
                self.require_unless_late(at, sends, timed);
            }
            Effect::Block(BlockEffect::Allocated { addr, .. }) => {
                self.blocks.insert(addr, at);
            }
            Effect::Block(BlockEffect::Freed { addr }) => {
                let allocation = self.blocks.get(&addr).copied().filter(|it| it.0 != at.0);
                self.require(at, allocation.into_iter().collect());
            }
            Effect::None | Effect::Access(_) | Effect::Object(_) => {}
        }
    }

    /// Signal handlers run on a thread after it has begun and before it ends.
    fn handler(&mut self, at: EventPos, op: &Op) {
        let id = self.trace.threads[at.0 as usize].id;
        let ends = *op == Op::End;
        if ends || matches!(op, Op::Begin { .. }) {
            let effect = if ends { ThreadEffect::Join } else { ThreadEffect::Fork };
            let streams: Vec<_> = self.handlers.of(id).collect();
            for stream in streams {
                self.thread(at, effect(stream));
            }
        } else if let Op::HandlerBegin { .. } = op {
            self.handler_begins(at, id);
        }
    }

    /// A handler excludes the thread that it interrupts from its first event to its last.
    fn handler_begins(&mut self, at: EventPos, id: ThreadId) {
        let run = self.handlers.run(EventId { thread: id, index: at.1.into() });
        let ends = |it: &EventId| self.trace.event(*it).is_some_and(|it| it.op == Op::HandlerEnd);
        let last = run.map(|it| it.1).filter(ends);
        let last = last.and_then(|it| u32::try_from(it.index).ok()).unwrap_or(u32::MAX);
        self.skeleton.threads[at.0 as usize].handled.push((at.1, last));
        if let Some(host) = self.handlers.host(id).and_then(|it| self.number(it)) {
            let handlers = &mut self.skeleton.threads[host as usize].handlers;
            if !handlers.contains(&at.0) {
                handlers.push(at.0);
            }
        }
    }

    fn push(&mut self, (thread, index): EventPos, op: SyncOp) {
        self.skeleton.threads[thread as usize].steps.push(SyncStep { index, op });
    }

    /// The event comes after all of these.
    fn require(&mut self, at: EventPos, events: Vec<EventPos>) {
        self.require_unless_late(at, events, false);
    }

    /// The event comes after all of these; if it is `timed`, its thread may give up waiting for them.
    fn require_unless_late(&mut self, at: EventPos, events: Vec<EventPos>, timed: bool) {
        if events.is_empty() {
            return;
        }
        let from = narrow(self.skeleton.required.len());
        self.skeleton.required.extend(events);
        let to = narrow(self.skeleton.required.len());
        self.push(at, SyncOp::Requires { from, to, timed });
    }

    fn thread(&mut self, at: EventPos, effect: ThreadEffect) {
        match effect {
            ThreadEffect::Fork(child) => {
                if let Some(child) = self.number(child) {
                    self.skeleton.threads[child as usize].fork = Some(at);
                }
            }
            ThreadEffect::Join(child) => {
                if let Some(thread) = self.number(child) {
                    self.push(at, SyncOp::Join { thread });
                }
            }
        }
    }

    fn lock(&mut self, at: EventPos, effect: LockEffect) {
        match effect {
            LockEffect::Acquire { lock, mode, how } => {
                self.acquire(at, lock, mode == LockMode::Read, how == Outcome::Timed);
            }
            LockEffect::Release { lock, .. } => self.release(at, lock),
            LockEffect::Failed { .. } => {}
        }
    }

    fn acquire(&mut self, at: EventPos, lock: u64, shared: bool, timed: bool) {
        let lock = self.locks.of(lock);
        self.open(at, lock);
        self.push(at, SyncOp::Acquire { lock, shared, until: None, timed });
    }

    fn release(&mut self, at: EventPos, lock: u64) {
        let lock = self.locks.of(lock);
        self.push(at, SyncOp::Release { lock });
        self.close(at, lock);
    }

    /// Notes that a thread holds a lock. The step that acquires it is pushed next.
    fn open(&mut self, (thread, index): EventPos, lock: u32) {
        let skeleton = &mut self.skeleton.threads[thread as usize];
        let held = &mut self.held[thread as usize];
        if held.is_empty() {
            skeleton.sections.push((index, u32::MAX));
        }
        match held.iter_mut().find(|it| it.lock == lock) {
            Some(hold) => hold.depth += 1,
            None => held.push(Hold { lock, depth: 1, step: skeleton.steps.len() }),
        }
    }

    /// Notes that a thread releases a lock; where that is, is noted at the step that acquired it.
    fn close(&mut self, (thread, index): EventPos, lock: u32) {
        let held = &mut self.held[thread as usize];
        let Some(at) = held.iter().position(|it| it.lock == lock) else { return };
        held[at].depth -= 1;
        if held[at].depth > 0 {
            return;
        }
        let hold = held.remove(at);
        let skeleton = &mut self.skeleton.threads[thread as usize];
        if let SyncOp::Acquire { until, .. } | SyncOp::Wake { until, .. } =
            &mut skeleton.steps[hold.step].op
        {
            *until = Some(index);
        }
        if self.held[thread as usize].is_empty()
            && let Some(section) = skeleton.sections.last_mut()
        {
            section.1 = index;
        }
    }

    fn condition(&mut self, at: EventPos, effect: ConditionEffect) {
        match effect {
            ConditionEffect::Wait { cond, timed, .. } => {
                self.conds.of(cond);
                self.waits[at.0 as usize] = Some((at, timed));
                self.push(at, SyncOp::Wait);
            }
            ConditionEffect::Wake { cond, lock, woken } => self.wake(at, cond, lock, woken),
            ConditionEffect::Signal { cond, all } => {
                let cond = self.conds.of(cond);
                let signals = &mut self.skeleton.signals;
                signals.resize(signals.len().max(cond as usize + 1), ByThread::default());
                signals[cond as usize].push(at);
                self.push(at, SyncOp::Signal { cond, all });
            }
        }
    }

    fn wake(&mut self, at: EventPos, cond: u64, lock: u64, woken: WokenBy) {
        let (cond, lock) = (self.conds.of(cond), self.locks.of(lock));
        let by = match woken {
            WokenBy::Event(signal) => self.position(signal),
            WokenBy::OneOf(_) | WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => None,
        };
        let woken = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
        let wait = self.waits[at.0 as usize].take();
        let timed = wait.is_some_and(|it| it.1);
        if let (Some(signal), Some((wait, _))) = (by, wait) {
            self.skeleton.ended.entry(signal).or_default().push(wait);
        }
        self.open(at, lock);
        self.push(at, SyncOp::Wake { cond, by, woken, lock, until: None, timed });
    }

    fn barrier(&mut self, at: EventPos, effect: BarrierEffect) {
        match effect {
            BarrierEffect::Init { .. } => {}
            BarrierEffect::Arrive { barrier } => {
                let (round, over) = self.arrived.entry(barrier).or_default();
                if std::mem::take(over) {
                    round.clear();
                }
                round.push(at);
            }
            BarrierEffect::Leave { barrier } => self.leave(at, barrier),
        }
    }

    fn leave(&mut self, at: EventPos, barrier: u64) {
        let (round, over) = self.arrived.entry(barrier).or_default();
        if !*over && round.iter().any(|it| it.0 == at.0) {
            // The first thread to leave closes the round: all that arrived so far are in it.
            *over = true;
            let round = round.clone();
            for it in &round {
                self.rounds.insert((barrier, it.0), round.clone());
            }
        }
        let round = self.rounds.remove(&(barrier, at.0)).unwrap_or_default();
        self.require(at, round);
    }

    fn semaphore(&mut self, at: EventPos, effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Wait { semaphore, timed } if self.mutexes.contains(&semaphore) => {
                self.acquire(at, semaphore, false, timed);
            }
            SemaphoreEffect::Post { semaphore } if self.mutexes.contains(&semaphore) => {
                self.release(at, semaphore);
            }
            SemaphoreEffect::Init { semaphore, value } => {
                let semaphore = self.semaphore_number(semaphore) as usize;
                self.skeleton.semaphores[semaphore] = i64::try_from(value).unwrap_or(i64::MAX);
                self.known[semaphore] = true;
            }
            SemaphoreEffect::Post { semaphore } => {
                let semaphore = self.semaphore_number(semaphore);
                self.counts[semaphore as usize] += 1;
                self.skeleton.posts[semaphore as usize].push(at);
                self.push(at, SyncOp::Post { semaphore });
            }
            SemaphoreEffect::Wait { semaphore, timed } => {
                let semaphore = self.semaphore_number(semaphore);
                self.decrement(semaphore as usize);
                self.push(at, SyncOp::SemWait { semaphore, timed });
            }
            SemaphoreEffect::Failed { .. } => {}
        }
    }

    fn semaphore_number(&mut self, object: u64) -> u32 {
        let number = self.semaphores.of(object);
        let len = self.counts.len().max(number as usize + 1);
        self.counts.resize(len, 0);
        self.known.resize(len, false);
        self.skeleton.semaphores.resize(len, 0);
        self.skeleton.posts.resize(len, ByThread::default());
        number
    }

    /// A semaphore whose initialisation was not recorded must have begun high enough for every
    /// decrement that happened.
    fn decrement(&mut self, semaphore: usize) {
        self.counts[semaphore] -= 1;
        if !self.known[semaphore] {
            let first = &mut self.skeleton.semaphores[semaphore];
            *first = (*first).max(-self.counts[semaphore]);
        }
    }

    fn once(&mut self, at: EventPos, effect: OnceEffect) {
        match effect {
            OnceEffect::End { once, done: true } => {
                self.once.insert(once, at);
            }
            OnceEffect::Done { once } => {
                let end = self.once.get(&once).copied();
                self.require(at, end.into_iter().collect());
            }
            OnceEffect::Begin { .. } | OnceEffect::End { done: false, .. } => {}
        }
    }

    pub(crate) fn finish(mut self) -> SyncSkeleton {
        self.skeleton.locks = self.locks.0.len();
        let conds = self.conds.0.len();
        self.skeleton.signals.resize(conds, ByThread::default());
        self.skeleton
    }
}
