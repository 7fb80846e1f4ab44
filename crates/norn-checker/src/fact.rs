//! What the rules need to know of the recorded run, collected once for each trace.

use std::collections::BTreeMap;

use norn_model::{
    AnnotationEffect, BarrierEffect, BlockEffect, Cancel, ChannelEffect, Effect, Event, EventId,
    Handlers, Object, ObjectEffect, Op, SemaphoreEffect, ThreadEffect, ThreadId, Trace,
};
use rustc_hash::FxHashMap;

use crate::memory::RecordedMemory;

/// What the rules need to know of the recorded run.
#[derive(Debug, Default)]
pub(crate) struct TraceFacts {
    pub(crate) memory: RecordedMemory,
    /// The event that creates a thread.
    pub(crate) forks: FxHashMap<ThreadId, EventId>,
    barrier_sizes: FxHashMap<u64, u64>,
    semaphore_values: FxHashMap<u64, i64>,
    /// By `HappensAfter` event: the `HappensBefore` events on its object that preceded it.
    pub(crate) announced: FxHashMap<EventId, Vec<EventId>>,
    /// By receive: the events that sent what it got.
    pub(crate) sources: FxHashMap<EventId, Vec<EventId>>,
    /// By event that frees memory: the event that allocated it.
    pub(crate) allocations: FxHashMap<EventId, EventId>,
    /// By use of a descriptor: the last event before it that closes it, if any.
    pub(crate) closes: FxHashMap<EventId, Option<EventId>>,
    pub(crate) handlers: Handlers,
}

impl TraceFacts {
    pub(crate) fn new(trace: &Trace, cancel: &Cancel) -> TraceFacts {
        let mut collector = Collector::default();
        collector.facts.handlers = Handlers::new(trace);
        for event in cancel.items(trace.merged()) {
            collector.event(&event);
        }
        let mut facts = collector.facts;
        facts.memory.finish();
        facts
    }

    /// The number of threads that a barrier holds back; 1 if nothing is known of it.
    pub(crate) fn barrier_size(&self, barrier: u64) -> u64 {
        self.barrier_sizes.get(&barrier).copied().unwrap_or(1).max(1)
    }

    /// The value of a semaphore before its first event.
    pub(crate) fn semaphore_value(&self, semaphore: u64) -> i64 {
        self.semaphore_values.get(&semaphore).copied().unwrap_or(0)
    }
}

/// Goes through the recorded run once.
#[derive(Default)]
struct Collector {
    facts: TraceFacts,
    arrived: FxHashMap<u64, u64>,
    /// By semaphore: its value relative to its first, and whether its initialisation was seen.
    semaphores: FxHashMap<u64, (i64, bool)>,
    announced: FxHashMap<u64, Vec<EventId>>,
    /// By channel: what was sent, as ranges of positions.
    sent: FxHashMap<u64, BTreeMap<u64, (u64, EventId)>>,
    blocks: FxHashMap<u64, EventId>,
    /// By descriptor: the event that closed it last.
    closed: FxHashMap<u64, EventId>,
}

impl Collector {
    fn event(&mut self, event: &Event) {
        if let Op::Begin { .. } = event.op {
            // No handler runs on a thread before it begins.
            let streams = self.facts.handlers.of(event.id.thread);
            self.facts.forks.extend(streams.map(|it| (it, event.id)));
        }
        match event.op.effect() {
            Effect::Access(access) => self.facts.memory.learn(event.id, &access),
            Effect::Thread(ThreadEffect::Fork(child)) => {
                self.facts.forks.insert(child, event.id);
            }
            Effect::Barrier(effect) => self.barrier(effect),
            Effect::Semaphore(effect) => self.semaphore(effect),
            Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                self.announced.entry(object).or_default().push(event.id);
            }
            Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                let before = self.announced.get(&object).cloned().unwrap_or_default();
                self.facts.announced.insert(event.id, before);
            }
            Effect::Channel(ChannelEffect::Send { channel, from, to }) => {
                self.sent.entry(channel).or_default().insert(from, (to, event.id));
            }
            Effect::Channel(ChannelEffect::Receive { channel, from, to, .. }) => {
                let sources = self.sources(channel, from, to);
                self.facts.sources.insert(event.id, sources);
            }
            Effect::Block(BlockEffect::Allocated { addr, .. }) => {
                self.blocks.insert(addr, event.id);
            }
            Effect::Block(BlockEffect::Freed { addr }) => {
                let allocation = self.blocks.get(&addr).map(|it| (event.id, *it));
                self.facts.allocations.extend(allocation);
            }
            // Their rules need no fact of the recorded run.
            Effect::None
            | Effect::Thread(ThreadEffect::Join(_))
            | Effect::Lock(_)
            | Effect::Condition(_)
            | Effect::Once(_) => {}
            Effect::Object(effect) => self.object(event.id, effect),
        }
    }

    fn object(&mut self, id: EventId, effect: ObjectEffect) {
        match effect {
            ObjectEffect::Use { object, .. } => {
                self.facts.closes.insert(id, self.closed.get(&object).copied());
            }
            ObjectEffect::Destroy { object, class: Object::Descriptor } => {
                self.closed.insert(object, id);
            }
            ObjectEffect::Init { .. } | ObjectEffect::Destroy { .. } => {}
        }
    }

    /// The events that sent a range. Ranges of one channel do not overlap.
    fn sources(&self, channel: u64, from: u64, to: u64) -> Vec<EventId> {
        let Some(sent) = self.sent.get(&channel).filter(|_| from < to) else { return Vec::new() };
        let before = sent.range(..=from).next_back().filter(|it| it.1.0 > from);
        let inside = sent.range(from..to).filter(|it| *it.0 > from);
        before.into_iter().chain(inside).map(|it| it.1.1).collect()
    }

    fn barrier(&mut self, effect: BarrierEffect) {
        match effect {
            BarrierEffect::Init { barrier, size } => {
                self.facts.barrier_sizes.insert(barrier, size);
            }
            BarrierEffect::Arrive { barrier } => *self.arrived.entry(barrier).or_default() += 1,
            // Where the initialisation was not recorded, the first thread to leave shows how many
            // the barrier waited for.
            BarrierEffect::Leave { barrier } => {
                let arrived = self.arrived.get(&barrier).copied().unwrap_or(0);
                self.facts.barrier_sizes.entry(barrier).or_insert(arrived);
            }
        }
    }

    fn semaphore(&mut self, effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Init { semaphore, value } => {
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                self.facts.semaphore_values.insert(semaphore, value);
                self.semaphores.insert(semaphore, (0, true));
            }
            SemaphoreEffect::Post { semaphore } => {
                self.semaphores.entry(semaphore).or_default().0 += 1;
            }
            // Where the initialisation was not recorded, the value must have been high enough for
            // every decrement that happened.
            SemaphoreEffect::Wait { semaphore, .. } => {
                let (count, known) = self.semaphores.entry(semaphore).or_default();
                *count -= 1;
                let first = self.facts.semaphore_values.entry(semaphore).or_default();
                if !*known {
                    *first = (*first).max(-*count);
                }
            }
            SemaphoreEffect::Failed { .. } => {}
        }
    }
}
