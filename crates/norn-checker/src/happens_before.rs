//! Whether a schedule orders two accesses by happens-before, as C++20 defines it.
//!
//! One question about one schedule needs no clocks: it is followed which threads, locks and values know
//! that the first access has happened. A thread that knows passes its knowledge on when it releases,
//! and another one gets it when it acquires. The second access is ordered after the first if its
//! thread knows of that by then.

use norn_model::{
    AnnotationEffect, AtomicOp, BarrierEffect, ChannelEffect, ConditionEffect, Effect, EventId,
    LockEffect, LockMode, OnceEffect, Op, Ordering, SemaphoreEffect, ThreadEffect, ThreadId, Trace,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{fact::TraceFacts, snapshot::Snapshot};

/// Whether one event happens before another in an order of events that contains both and begins at
/// some state.
pub(crate) fn is_before(
    (trace, facts): (&Trace, &TraceFacts),
    begin: &Snapshot,
    order: impl Iterator<Item = EventId>,
    one: EventId,
    other: EventId,
) -> bool {
    let mut knowledge = Knowledge::new(facts, begin);
    for id in order {
        if id == one {
            knowledge.threads.insert(id.thread);
        }
        if let Some(event) = trace.event(id) {
            knowledge.step(id.thread, &event.op);
        }
        if id == other {
            return id != one && knowledge.threads.contains(&id.thread);
        }
    }
    false
}

/// Where it is known that the first access has happened.
struct Knowledge<'a> {
    facts: &'a TraceFacts,
    threads: FxHashSet<ThreadId>,
    /// Locks that an exclusive holder has released since, and locks that a reader has.
    exclusive: FxHashSet<u64>,
    shared: FxHashSet<u64>,
    /// By thread and lock: whether it is held for reading.
    reading: FxHashSet<(ThreadId, u64)>,
    /// Conditions, semaphores, initialisations and annotated objects.
    objects: FxHashSet<u64>,
    /// Channels of the kernel.
    channels: FxHashSet<u64>,
    /// By barrier: the number of arrivals, the rounds in which a thread with the knowledge arrived,
    /// and the round of each thread.
    arrivals: FxHashMap<u64, u64>,
    rounds: FxHashSet<(u64, u64)>,
    round: FxHashMap<(u64, ThreadId), u64>,
    /// Addresses whose current value belongs to a release sequence of a thread with the knowledge.
    values: FxHashSet<u64>,
    /// Threads whose last releasing fence came after they knew, and threads that have read such a
    /// value without acquiring it.
    fenced: FxHashSet<ThreadId>,
    pending: FxHashSet<ThreadId>,
}

impl<'a> Knowledge<'a> {
    fn new(facts: &'a TraceFacts, begin: &Snapshot) -> Self {
        let holds = begin.holders.iter().flat_map(|(lock, all)| all.iter().map(|it| (*lock, it)));
        let reading = holds.filter(|it| it.1.1.reads).map(|(lock, it)| (*it.0, lock));
        Knowledge {
            facts,
            threads: FxHashSet::default(),
            exclusive: FxHashSet::default(),
            shared: FxHashSet::default(),
            reading: reading.collect(),
            objects: FxHashSet::default(),
            channels: FxHashSet::default(),
            arrivals: begin.arrivals.clone(),
            rounds: FxHashSet::default(),
            round: begin.rounds.clone(),
            values: FxHashSet::default(),
            fenced: FxHashSet::default(),
            pending: FxHashSet::default(),
        }
    }

    fn knows(&self, thread: ThreadId) -> bool {
        self.threads.contains(&thread)
    }

    fn tell(&mut self, thread: ThreadId, knows: bool) {
        if knows {
            self.threads.insert(thread);
        }
    }

    fn step(&mut self, thread: ThreadId, op: &Op) {
        let effect = op.effect();
        if let Some(host) = self.facts.handlers.host(thread) {
            // A handler runs on the thread that it interrupts.
            if let Op::HandlerBegin { .. } = op {
                self.tell(thread, self.knows(host));
            } else if let Op::HandlerEnd = op {
                self.tell(host, self.knows(thread));
            }
        }
        if let Some(effect) = effect.lock() {
            self.lock(thread, effect);
        }
        match effect {
            Effect::Access(_) | Effect::None => self.atomic(thread, op),
            Effect::Thread(ThreadEffect::Fork(child)) => self.tell(child, self.knows(thread)),
            Effect::Thread(ThreadEffect::Join(child)) => self.tell(thread, self.knows(child)),
            Effect::Condition(ConditionEffect::Signal { cond: object, .. })
            | Effect::Semaphore(SemaphoreEffect::Post { semaphore: object })
            | Effect::Once(OnceEffect::End { once: object, .. })
            | Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                if self.knows(thread) {
                    self.objects.insert(object);
                }
            }
            Effect::Condition(ConditionEffect::Wake { cond: object, .. })
            | Effect::Semaphore(SemaphoreEffect::Wait { semaphore: object, .. })
            | Effect::Once(
                OnceEffect::Begin { once: object } | OnceEffect::Done { once: object },
            )
            | Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                self.tell(thread, self.objects.contains(&object));
            }
            Effect::Channel(ChannelEffect::Send { channel, .. }) => {
                if self.knows(thread) {
                    self.channels.insert(channel);
                }
            }
            Effect::Channel(ChannelEffect::Receive { channel, .. }) => {
                self.tell(thread, self.channels.contains(&channel));
            }
            Effect::Barrier(effect) => self.barrier(thread, effect),
            Effect::Condition(ConditionEffect::Wait { .. })
            | Effect::Semaphore(SemaphoreEffect::Init { .. } | SemaphoreEffect::Failed { .. })
            | Effect::Lock(_)
            | Effect::Block(_)
            | Effect::Object(_) => {}
        }
    }

    fn lock(&mut self, thread: ThreadId, effect: LockEffect) {
        match effect {
            LockEffect::Acquire { lock, mode, .. } => {
                let reads = mode == LockMode::Read;
                if reads {
                    self.reading.insert((thread, lock));
                } else {
                    self.reading.remove(&(thread, lock));
                }
                let after_readers = !reads && self.shared.contains(&lock);
                self.tell(thread, after_readers || self.exclusive.contains(&lock));
            }
            LockEffect::Release { lock, .. } => {
                let reads = self.reading.contains(&(thread, lock));
                if self.knows(thread) {
                    let released = if reads { &mut self.shared } else { &mut self.exclusive };
                    released.insert(lock);
                }
            }
            LockEffect::Failed { .. } => {}
        }
    }

    fn barrier(&mut self, thread: ThreadId, effect: BarrierEffect) {
        match effect {
            BarrierEffect::Init { .. } => {}
            BarrierEffect::Arrive { barrier } => {
                let arrivals = self.arrivals.entry(barrier).or_default();
                let round = *arrivals / self.facts.barrier_size(barrier);
                *arrivals += 1;
                self.round.insert((barrier, thread), round);
                if self.knows(thread) {
                    self.rounds.insert((barrier, round));
                }
            }
            BarrierEffect::Leave { barrier } => {
                let round = self.round.get(&(barrier, thread)).copied();
                let knows = round.is_some_and(|it| self.rounds.contains(&(barrier, it)));
                self.tell(thread, knows);
            }
        }
    }

    /// Atomic operations and fences, whose memory order no effect has.
    fn atomic(&mut self, thread: ThreadId, op: &Op) {
        if let Op::Fence(ordering) = *op {
            self.tell(thread, acquires(ordering) && self.pending.contains(&thread));
            if releases(ordering) && self.knows(thread) {
                self.fenced.insert(thread);
            }
            return;
        }
        let Op::Atomic { addr, ordering, op, .. } = *op else { return };
        let (reads, writes) = match op {
            AtomicOp::Load(_) | AtomicOp::CasFailed { .. } => (true, false),
            AtomicOp::Store(_) => (false, true),
            AtomicOp::Rmw { .. } | AtomicOp::Cas { .. } => (true, true),
        };
        let known = self.values.contains(&addr);
        if reads && known {
            self.pending.insert(thread);
            self.tell(thread, acquires(ordering));
        }
        if writes {
            // Only a read-modify-write continues a release sequence.
            let continued = reads && known;
            let released = releases(ordering) && self.knows(thread);
            if continued || released || self.fenced.contains(&thread) {
                self.values.insert(addr);
            } else {
                self.values.remove(&addr);
            }
        }
    }
}

fn acquires(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Acquire | Ordering::Consume | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}
