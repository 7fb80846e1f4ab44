//! Happens-before by its definition in C++20: all pairs of events, and their transitive closure.
//!
//! Written to be compared with the standard sentence by sentence, not to be fast: an operation
//! synchronizes with another one if the conditions of \[intro.races\] and \[atomics.fences\] hold.

use norn_model::{
    AnnotationEffect, AtomicOp, BarrierEffect, ChannelEffect, ConditionEffect, Effect, EventId,
    LockEffect, LockMode, OnceEffect, Op, Ordering, Role, SemaphoreEffect, ThreadEffect, Trace,
};

/// The happens-before relation of one order of events.
#[derive(Clone, Debug)]
pub struct Relation {
    events: Vec<EventId>,
    /// By events, counted in their order: whether the first happens before the second.
    before: Vec<Vec<bool>>,
}

impl Relation {
    /// Of these events of a trace, in this order from the start of the run.
    pub fn new(trace: &Trace, order: &[EventId]) -> Relation {
        let ops: Vec<_> = order.iter().filter_map(|it| trace.event(*it)).map(|it| it.op).collect();
        let run = Run { trace, order, ops: &ops };
        let count = ops.len();
        let mut before: Vec<Vec<bool>> = (0..count)
            .map(|one| {
                (0..count).map(|other| one < other && run.is_directly_before(one, other)).collect()
            })
            .collect();
        for middle in 0..count {
            let after = before[middle].clone();
            for row in before.iter_mut().filter(|it| it[middle]) {
                row.iter_mut().zip(&after).for_each(|(mine, theirs)| *mine |= theirs);
            }
        }
        Relation { events: order[..count].to_vec(), before }
    }

    /// Whether one event happens before another.
    pub fn is_before(&self, one: EventId, other: EventId) -> bool {
        let at = |id: EventId| self.events.iter().position(|it| *it == id);
        at(one).zip(at(other)).is_some_and(|(one, other)| self.before[one][other])
    }
}

fn acquires(ordering: Ordering) -> bool {
    !matches!(ordering, Ordering::Relaxed | Ordering::Release)
}

fn releases(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// One order of events; events are counted in it.
struct Run<'a> {
    trace: &'a Trace,
    order: &'a [EventId],
    ops: &'a [Op],
}

/// An atomic operation: its address, its memory order, whether it reads and whether it writes.
type Atomic = (u64, Ordering, bool, bool);

impl Run<'_> {
    /// Sequenced before, or synchronizes with. The first is earlier in the order.
    fn is_directly_before(&self, one: usize, other: usize) -> bool {
        self.is_sequenced(one, other)
            || self.interrupts(one, other)
            || self.starts_or_ends(one, other)
            || self.releases_lock(one, other)
            || self.wakes(one, other)
            || self.synchronizes(one, other)
    }

    fn is_sequenced(&self, one: usize, other: usize) -> bool {
        one < other && self.order[one].thread == self.order[other].thread
    }

    /// What a thread did before a signal handler interrupts it comes before the handler, and the
    /// handler comes before what the thread does afterwards.
    fn interrupts(&self, one: usize, other: usize) -> bool {
        let is_host = |host: usize, handler: usize| {
            let stream = self.trace.thread(self.order[handler].thread);
            let stream = stream.filter(|it| it.role == Role::Handler);
            stream.and_then(|it| it.parent) == Some(self.order[host].thread)
        };
        let begins = matches!(self.ops[other], Op::HandlerBegin { .. });
        let ends = matches!(self.ops[one], Op::HandlerEnd);
        one < other && (begins && is_host(one, other) || ends && is_host(other, one))
    }

    /// The creation of a thread comes before all of its events, and these before its join.
    fn starts_or_ends(&self, one: usize, other: usize) -> bool {
        let forks = Effect::Thread(ThreadEffect::Fork(self.order[other].thread));
        let joins = Effect::Thread(ThreadEffect::Join(self.order[one].thread));
        self.ops[one].effect() == forks || self.ops[other].effect() == joins
    }

    /// The release of a lock comes before each later acquisition, unless both are for reading.
    fn releases_lock(&self, one: usize, other: usize) -> bool {
        let Some(LockEffect::Release { lock: released, .. }) = self.ops[one].effect().lock() else {
            return false;
        };
        let Some(LockEffect::Acquire { lock, mode, .. }) = self.ops[other].effect().lock() else {
            return false;
        };
        let read = |mode: LockMode| matches!(mode, LockMode::Read);
        released == lock && !(self.mode(one, lock).is_some_and(read) && read(mode))
    }

    /// The mode in which the thread of an event last acquired a lock.
    fn mode(&self, at: usize, wanted: u64) -> Option<LockMode> {
        let earlier = (0..at).rev().filter(|it| self.is_sequenced(*it, at));
        earlier.filter_map(|it| self.ops[it].effect().lock()).find_map(|it| match it {
            LockEffect::Acquire { lock, mode, .. } if lock == wanted => Some(mode),
            LockEffect::Acquire { .. } | LockEffect::Failed { .. } | LockEffect::Release { .. } => {
                None
            }
        })
    }

    /// Signals, posts, initialisations, annotations and barriers come before what they let go on. All
    /// earlier ones on the same object count.
    fn wakes(&self, one: usize, other: usize) -> bool {
        let (first, second) = (self.ops[one].effect(), self.ops[other].effect());
        if let Effect::Barrier(BarrierEffect::Arrive { barrier }) = first
            && second == Effect::Barrier(BarrierEffect::Leave { barrier })
        {
            return self.round(one, barrier) == self.round(self.arrival(other, barrier), barrier);
        }
        if let Effect::Channel(ChannelEffect::Send { channel: to, .. }) = first
            && let Effect::Channel(ChannelEffect::Receive { channel: from, .. }) = second
        {
            return to == from;
        }
        announced(first).is_some_and(|it| heard(second) == Some(it))
    }

    /// The last arrival of a thread at a barrier before it leaves.
    fn arrival(&self, leave: usize, barrier: u64) -> usize {
        let arrives = Effect::Barrier(BarrierEffect::Arrive { barrier });
        let mine = |it: &usize| self.is_sequenced(*it, leave) && self.ops[*it].effect() == arrives;
        (0..leave).rev().find(mine).unwrap_or(leave)
    }

    /// The round of an arrival at a barrier.
    fn round(&self, arrival: usize, barrier: u64) -> usize {
        let arrives = Effect::Barrier(BarrierEffect::Arrive { barrier });
        let earlier = self.ops[..arrival].iter().filter(|it| it.effect() == arrives).count();
        let inits = self.trace.merged().map(|it| it.op.effect());
        let sizes = inits.filter_map(|it| {
            let Effect::Barrier(BarrierEffect::Init { barrier: of, size }) = it else {
                return None;
            };
            usize::try_from(size).ok().filter(|_| of == barrier)
        });
        earlier / sizes.last().unwrap_or(1).max(1)
    }

    fn atomic(&self, at: usize) -> Option<Atomic> {
        let Op::Atomic { addr, ordering, op, .. } = self.ops[at] else { return None };
        Some(match op {
            AtomicOp::Load(_) | AtomicOp::CasFailed { .. } => (addr, ordering, true, false),
            AtomicOp::Store(_) => (addr, ordering, false, true),
            AtomicOp::Rmw { .. } | AtomicOp::Cas { .. } => (addr, ordering, true, true),
        })
    }

    fn is_fence(&self, at: usize, is: fn(Ordering) -> bool) -> bool {
        matches!(self.ops[at], Op::Fence(ordering) if is(ordering))
    }

    /// Whether an atomic operation or fence that releases synchronizes with one that acquires: there
    /// is a write X at or after the first, and a read Y at or before the second, such that Y reads a
    /// value of the release sequence that X heads.
    fn synchronizes(&self, one: usize, other: usize) -> bool {
        let heads = (0..self.ops.len()).filter(|it| self.is_head(one, *it));
        let reads: Vec<_> = (0..self.ops.len()).filter(|it| self.is_read(*it, other)).collect();
        heads.into_iter().any(|x| reads.iter().any(|y| self.hands_over(x, *y)))
    }

    /// Whether a write is a release operation itself, or follows a fence that releases.
    fn is_head(&self, release: usize, write: usize) -> bool {
        let Some((_, ordering, _, true)) = self.atomic(write) else { return false };
        release == write && releases(ordering)
            || self.is_fence(release, releases) && self.is_sequenced(release, write)
    }

    /// Whether a read is an acquire operation itself, or a fence that acquires follows it.
    fn is_read(&self, read: usize, acquire: usize) -> bool {
        let Some((_, ordering, true, _)) = self.atomic(read) else { return false };
        acquire == read && acquires(ordering)
            || self.is_fence(acquire, acquires) && self.is_sequenced(read, acquire)
    }

    /// Whether a read sees a value of the release sequence that a write heads: the last write of the
    /// variable before the read is that one, or only read-modify-writes follow it up to the read.
    fn hands_over(&self, head: usize, read: usize) -> bool {
        let (Some((addr, ..)), Some((of, ..))) = (self.atomic(head), self.atomic(read)) else {
            return false;
        };
        let continues = |it: usize| {
            self.atomic(it)
                .is_none_or(|(other, _, reads, writes)| other != addr || !writes || reads)
        };
        addr == of && head < read && (head + 1..read).all(continues)
    }
}

/// The object on which an operation lets others go on.
fn announced(effect: Effect) -> Option<u64> {
    if let Effect::Condition(ConditionEffect::Signal { cond: object, .. })
    | Effect::Semaphore(SemaphoreEffect::Post { semaphore: object })
    | Effect::Once(OnceEffect::End { once: object, .. })
    | Effect::Annotation(AnnotationEffect::HappensBefore { object }) = effect
    {
        return Some(object);
    }
    None
}

/// The object on which an operation waits for others.
fn heard(effect: Effect) -> Option<u64> {
    if let Effect::Condition(ConditionEffect::Wake { cond: object, .. })
    | Effect::Semaphore(SemaphoreEffect::Wait { semaphore: object, .. })
    | Effect::Once(OnceEffect::Begin { once: object } | OnceEffect::Done { once: object })
    | Effect::Annotation(AnnotationEffect::HappensAfter { object }) = effect
    {
        return Some(object);
    }
    None
}
