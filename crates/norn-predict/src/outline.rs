//! What a thread does besides reading and writing, kept small: the first pass over its events.
//!
//! Events are looked at where they are in the trace, and what is kept of them are places: where
//! locks are acquired and released, where threads synchronise, which memory is allocated and freed.

use std::collections::BTreeSet;

use norn_model::{
    BarrierEffect, ChannelEffect, ConditionEffect, Effect, Held, LockEffect, LockMode,
    ObjectEffect, Op, Outcome, SemaphoreEffect, Thread, ThreadEffect,
};
use rustc_hash::FxHashMap;

use crate::{lockset::Set, shared_filter::SharedFilter};

/// What one thread does besides reading and writing.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Events that order threads, by index.
    pub(crate) sync_points: Vec<u32>,
    /// Where the set of held locks changes, and to what; the first is at 0.
    pub(crate) changes: Vec<Change>,
    /// Where a thread waits for others: no region goes on behind.
    pub(crate) bounds: Vec<u32>,
    /// The sets that the changes name.
    pub(crate) sets: Vec<Set>,
    /// Events at which memory is allocated or freed.
    pub(crate) lives: Vec<u32>,
    /// Events at which synchronisation objects are initialised or destroyed.
    pub(crate) objects: Vec<u32>,
}

/// A change of the set of held locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// From this event on.
    pub(crate) from: u32,
    /// The set, as a number.
    pub(crate) set: u32,
    /// The outermost critical section, or the stretch between two of them, counted.
    pub(crate) section: u32,
}

impl Outline {
    /// Goes over a thread, and marks in the filter which memory it accesses.
    /// Some semaphores are used as locks.
    pub(crate) fn new(
        number: u32,
        thread: &Thread,
        filter: &SharedFilter,
        semaphores: &BTreeSet<u64>,
    ) -> Outline {
        let mut walk = Walk::new(semaphores);
        walk.intern(Set::default());
        walk.change(0);
        for (index, event) in thread.events.iter().enumerate() {
            if let Op::Read { addr, size, .. } = event.op {
                filter.touch(number, addr, size, false);
            } else if let Op::Write { addr, size, .. } = event.op {
                filter.touch(number, addr, size, true);
            } else if let Op::Atomic { addr, size, .. } = event.op {
                filter.touch(number, addr, u64::from(size), true);
                walk.outline.sync_points.push(narrow(index));
            } else {
                walk.step(narrow(index), &event.op);
            }
        }
        walk.outline
    }

    /// The change in force at an event.
    pub(crate) fn at(&self, index: u32) -> usize {
        self.changes.partition_point(|it| it.from <= index).saturating_sub(1)
    }

    /// How many synchronisation points are at or before an event.
    pub(crate) fn epoch(&self, index: u32) -> u32 {
        narrow(self.sync_points.partition_point(|it| *it <= index))
    }

    /// How many times the thread has waited for others before an event.
    pub(crate) fn span(&self, index: u32) -> usize {
        self.bounds.partition_point(|it| *it <= index)
    }
}

/// Places in a trace have 32 bits here; a thread with more events does not fit into memory.
pub(crate) fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

struct Walk<'a> {
    /// The semaphores that are locks.
    semaphores: &'a BTreeSet<u64>,
    outline: Outline,
    known: FxHashMap<Set, u32>,
    held: Held,
    set: u32,
    section: u32,
}

impl<'a> Walk<'a> {
    fn new(semaphores: &'a BTreeSet<u64>) -> Self {
        Walk {
            semaphores,
            outline: Outline::default(),
            known: FxHashMap::default(),
            held: Held::default(),
            set: 0,
            section: 0,
        }
    }

    fn step(&mut self, index: u32, op: &Op) {
        match op.effect() {
            Effect::Lock(
                LockEffect::Acquire { .. } | LockEffect::Release { by_wait: false, .. },
            ) => {
                self.locks(index, op);
            }
            Effect::Lock(LockEffect::Release { by_wait: true, .. }) => {
                self.bound(index);
                self.locks(index, op);
            }
            Effect::Condition(ConditionEffect::Wake { .. }) => {
                self.outline.sync_points.push(index);
                self.bound(index);
                self.locks(index, op);
            }
            Effect::Semaphore(
                SemaphoreEffect::Wait { semaphore, .. } | SemaphoreEffect::Post { semaphore },
            ) if self.semaphores.contains(&semaphore) => self.semaphore(index, op),
            Effect::Thread(ThreadEffect::Join(_)) => {
                self.outline.sync_points.push(index);
                self.outline.objects.push(index);
                self.bound(index);
            }
            Effect::Barrier(BarrierEffect::Leave { .. })
            | Effect::Semaphore(SemaphoreEffect::Wait { .. })
            | Effect::Channel(ChannelEffect::Receive { .. }) => {
                self.outline.sync_points.push(index);
                self.bound(index);
            }
            Effect::Thread(ThreadEffect::Fork(_))
            | Effect::Condition(ConditionEffect::Signal { .. })
            | Effect::Barrier(BarrierEffect::Arrive { .. })
            | Effect::Semaphore(SemaphoreEffect::Post { .. })
            | Effect::Once(_)
            | Effect::Annotation(_)
            | Effect::Channel(ChannelEffect::Send { .. }) => self.outline.sync_points.push(index),
            Effect::Barrier(BarrierEffect::Init { .. })
            | Effect::Semaphore(SemaphoreEffect::Init { .. })
            | Effect::Object(ObjectEffect::Init { .. }) => {
                self.outline.sync_points.push(index);
                self.outline.objects.push(index);
            }
            Effect::Object(ObjectEffect::Destroy { .. }) => self.outline.objects.push(index),
            Effect::Block(_) => self.outline.lives.push(index),
            Effect::None => self.other(index, op),
            Effect::Access(_)
            | Effect::Lock(LockEffect::Failed { .. })
            | Effect::Condition(ConditionEffect::Wait { .. })
            | Effect::Semaphore(SemaphoreEffect::Failed { .. })
            | Effect::Object(ObjectEffect::Use { .. }) => {}
        }
    }

    /// Operations without an effect, of which a few are boundaries: a thread's stack lives as long as
    /// the thread, and a fence separates what is before it from what is after it.
    fn other(&mut self, index: u32, op: &Op) {
        let is_end = matches!(op, Op::Begin { .. } | Op::End);
        if is_end || matches!(op, Op::Fence(_)) {
            self.outline.sync_points.push(index);
        }
        if is_end {
            self.outline.lives.push(index);
        }
    }

    /// A semaphore that is a lock goes down or up.
    fn semaphore(&mut self, index: u32, op: &Op) {
        self.outline.sync_points.push(index);
        let mode = LockMode::Mutex;
        if let Op::SemWait { semaphore: lock, .. } = *op {
            self.locks(index, &Op::Acquire { lock, mode, how: Outcome::Waited });
        } else if let Op::SemPost { semaphore: lock } = *op {
            self.locks(index, &Op::Release { lock, mode });
        }
    }

    fn bound(&mut self, index: u32) {
        self.outline.bounds.push(index);
        self.section += 1;
        self.change(index);
    }

    fn locks(&mut self, index: u32, op: &Op) {
        let outside = self.set == 0;
        self.held.step(op);
        let shared = |mode| mode == LockMode::Read;
        let set = Set::new(self.held.iter().map(|(lock, mode)| (lock, shared(mode))));
        self.set = self.intern(set);
        self.section += u32::from(outside || self.set == 0);
        self.change(index);
    }

    /// The number of a set; the empty one has 0.
    fn intern(&mut self, set: Set) -> u32 {
        let next = narrow(self.outline.sets.len());
        *self.known.entry(set).or_insert_with_key(|set| {
            self.outline.sets.push(set.clone());
            next
        })
    }

    fn change(&mut self, from: u32) {
        let change = Change { from, set: self.set, section: self.section };
        match self.outline.changes.last_mut() {
            Some(last) if last.from == from => *last = change,
            Some(last) if (last.set, last.section) == (change.set, change.section) => {}
            _ => self.outline.changes.push(change),
        }
    }
}
