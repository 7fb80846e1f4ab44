//! What the rest of each thread contains, looked up by object: the check of a deadlock asks whether any
//! thread will ever release a lock, send a signal or arrive at a barrier.

use std::{collections::BTreeMap, ops::Range};

use norn_model::{
    BarrierEffect, Cancel, ChannelEffect, ConditionEffect, Effect, LockEffect, OnceEffect,
    SemaphoreEffect, ThreadEffect, ThreadId, Trace,
};
use rustc_hash::FxHashMap;

/// An event that can let a blocked thread continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unblocking {
    Release(u64),
    Signal(u64),
    Post(u64),
    Arrival(u64),
    OnceEnd(u64),
    Send(u64),
}

/// The events of all threads that block or unblock, by their indices in increasing order.
#[derive(Debug, Default)]
pub(crate) struct Futures {
    unblocking: FxHashMap<Unblocking, BTreeMap<ThreadId, Vec<u64>>>,
    blocking: FxHashMap<ThreadId, Vec<u64>>,
}

impl Futures {
    pub(crate) fn new(trace: &Trace, cancel: &Cancel) -> Self {
        let mut futures = Futures::default();
        for thread in &trace.threads {
            for event in cancel.items(thread.events.iter()) {
                let effect = event.op.effect();
                if can_block(effect) {
                    futures.blocking.entry(thread.id).or_default().push(event.id.index);
                }
                if let Some(object) = unblocks(effect) {
                    let threads = futures.unblocking.entry(object).or_default();
                    threads.entry(thread.id).or_default().push(event.id.index);
                }
            }
        }
        futures
    }

    /// The number of unblocking events of a thread in a range of its indices.
    pub(crate) fn count(&self, object: Unblocking, thread: ThreadId, range: Range<u64>) -> usize {
        let indices = self.unblocking.get(&object).and_then(|it| it.get(&thread));
        indices.map_or(0, |it| inside(it, range).len())
    }

    /// The threads with such events.
    pub(crate) fn threads(&self, object: Unblocking) -> impl Iterator<Item = ThreadId> {
        self.unblocking.get(&object).into_iter().flat_map(|it| it.keys().copied())
    }

    /// The events of a thread that can block it, in a range of its indices.
    pub(crate) fn blocking(&self, thread: ThreadId, range: Range<u64>) -> &[u64] {
        self.blocking.get(&thread).map_or(&[], |it| inside(it, range))
    }
}

fn inside(indices: &[u64], range: Range<u64>) -> &[u64] {
    let from = indices.partition_point(|it| *it < range.start);
    let to = indices.partition_point(|it| *it < range.end);
    &indices[from..to.max(from)]
}

fn can_block(effect: Effect) -> bool {
    match effect {
        Effect::Lock(LockEffect::Acquire { .. })
        | Effect::Thread(ThreadEffect::Join(_))
        | Effect::Condition(ConditionEffect::Wake { .. })
        | Effect::Semaphore(SemaphoreEffect::Wait { .. })
        | Effect::Barrier(BarrierEffect::Leave { .. })
        | Effect::Once(OnceEffect::Done { .. })
        | Effect::Channel(ChannelEffect::Receive { .. }) => true,
        Effect::None
        | Effect::Access(_)
        | Effect::Thread(ThreadEffect::Fork(_))
        | Effect::Lock(LockEffect::Failed { .. } | LockEffect::Release { .. })
        | Effect::Condition(ConditionEffect::Wait { .. } | ConditionEffect::Signal { .. })
        | Effect::Semaphore(
            SemaphoreEffect::Init { .. }
            | SemaphoreEffect::Post { .. }
            | SemaphoreEffect::Failed { .. },
        )
        | Effect::Barrier(BarrierEffect::Init { .. } | BarrierEffect::Arrive { .. })
        | Effect::Once(OnceEffect::Begin { .. } | OnceEffect::End { .. })
        | Effect::Annotation(_)
        | Effect::Channel(ChannelEffect::Send { .. })
        | Effect::Block(_)
        | Effect::Object(_) => false,
    }
}

fn unblocks(effect: Effect) -> Option<Unblocking> {
    match effect {
        Effect::Lock(LockEffect::Release { lock, .. }) => Some(Unblocking::Release(lock)),
        Effect::Condition(ConditionEffect::Signal { cond, .. }) => Some(Unblocking::Signal(cond)),
        Effect::Semaphore(SemaphoreEffect::Post { semaphore }) => Some(Unblocking::Post(semaphore)),
        Effect::Barrier(BarrierEffect::Arrive { barrier }) => Some(Unblocking::Arrival(barrier)),
        Effect::Once(OnceEffect::End { once, .. }) => Some(Unblocking::OnceEnd(once)),
        Effect::Channel(ChannelEffect::Send { channel, .. }) => Some(Unblocking::Send(channel)),
        Effect::None
        | Effect::Access(_)
        | Effect::Thread(_)
        | Effect::Lock(LockEffect::Acquire { .. } | LockEffect::Failed { .. })
        | Effect::Condition(ConditionEffect::Wait { .. } | ConditionEffect::Wake { .. })
        | Effect::Semaphore(
            SemaphoreEffect::Init { .. }
            | SemaphoreEffect::Wait { .. }
            | SemaphoreEffect::Failed { .. },
        )
        | Effect::Barrier(BarrierEffect::Init { .. } | BarrierEffect::Leave { .. })
        | Effect::Once(OnceEffect::Begin { .. } | OnceEffect::Done { .. })
        | Effect::Annotation(_)
        | Effect::Channel(ChannelEffect::Receive { .. })
        | Effect::Block(_)
        | Effect::Object(_) => None,
    }
}
