//! Where threads may have to wait, and what they hold there.

use std::collections::BTreeSet;

use norn_model::{
    BarrierEffect, ConditionEffect, Effect, LockEffect, LockMode, OnceEffect, Op, Outcome, Role,
    SemaphoreEffect, Thread, ThreadEffect, Trace, WokenBy,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{order::Order, outline::narrow};

/// Requests of one trace at most.
const MOST: usize = 50_000;

/// An event that a thread may have to wait in, and what it holds there.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) thread: u16,
    pub(crate) index: u32,
    pub(crate) want: Want,
    /// Sorted by lock.
    pub(crate) held: Vec<Hold>,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Want {
    /// A lock.
    Lock {
        /// Which.
        lock: u64,
        /// Whether it would share it.
        shared: bool,
    },
    /// Events of other threads: the end of one, a signal, a post, their arrival.
    Others,
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) lock: u64,
    pub(crate) shared: bool,
    /// The event that took it.
    pub(crate) index: u32,
}

/// The requests of all threads that can be part of a cycle, those of a thread in its order.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) all: Vec<Request>,
    pub(crate) left_out: u64,
}

/// What makes two requests of a thread the same. Between two synchronisation points, nothing
/// can order one of them and not the other.
#[derive(PartialEq, Eq, Hash)]
struct Same {
    epoch: u32,
    site: u32,
    want: Want,
    held: Vec<(u64, bool, u32)>,
}

impl Requests {
    /// Gathers the requests of a trace.
    pub(crate) fn new(trace: &Trace, order: &Order, semaphores: &BTreeSet<u64>) -> Requests {
        let threads = trace.threads.par_iter().enumerate();
        let each = threads.map(|(number, thread)| {
            let Ok(number) = u16::try_from(number) else { return Vec::new() };
            Walk::new(number, semaphores).requests(thread)
        });
        let mut all: Vec<_> = each.collect::<Vec<_>>().into_iter().flatten().collect();
        trim(&mut all, order, trace.threads.len());
        let left_out = all.len().saturating_sub(MOST) as u64;
        all.truncate(MOST);
        Requests { all, left_out }
    }
}

struct Walk<'a> {
    number: u16,
    semaphores: &'a BTreeSet<u64>,
    /// With how often they are held and where they were taken.
    held: Vec<(Hold, u32, u32)>,
    epoch: u32,
    known: FxHashSet<Same>,
    all: Vec<Request>,
}

impl<'a> Walk<'a> {
    fn new(number: u16, semaphores: &'a BTreeSet<u64>) -> Self {
        let (held, known, all) = (Vec::new(), FxHashSet::default(), Vec::new());
        Walk { number, semaphores, held, epoch: 0, known, all }
    }

    fn requests(mut self, thread: &Thread) -> Vec<Request> {
        // The handlers of a signal cannot be scheduled.
        if thread.role == Role::Handler {
            return Vec::new();
        }
        for (index, event) in thread.events.iter().enumerate() {
            self.step((narrow(index), event.site.0), &event.op);
        }
        self.all
    }

    fn step(&mut self, at: (u32, u32), op: &Op) {
        match op.effect() {
            Effect::Lock(LockEffect::Acquire { lock, mode, how }) => {
                let shared = mode == LockMode::Read;
                // A thread that only tries does not wait.
                if matches!(how, Outcome::Waited | Outcome::OwnerDied) {
                    self.request(at, Want::Lock { lock, shared });
                }
                self.take(at, lock, shared);
            }
            Effect::Lock(LockEffect::Release { lock, .. }) => self.give(lock),
            Effect::Semaphore(effect) => self.semaphore(at, effect),
            Effect::Condition(ConditionEffect::Wake { lock, woken, .. }) => {
                if matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_)) {
                    self.wait(at);
                }
                self.request(at, Want::Lock { lock, shared: false });
                self.take(at, lock, false);
            }
            Effect::Thread(ThreadEffect::Join(_))
            | Effect::Barrier(BarrierEffect::Leave { .. })
            | Effect::Once(OnceEffect::Done { .. }) => self.wait(at),
            Effect::Lock(LockEffect::Failed { .. })
            | Effect::Condition(ConditionEffect::Wait { .. } | ConditionEffect::Signal { .. })
            | Effect::Thread(ThreadEffect::Fork(_))
            | Effect::Barrier(BarrierEffect::Init { .. } | BarrierEffect::Arrive { .. })
            | Effect::Once(OnceEffect::Begin { .. } | OnceEffect::End { .. })
            | Effect::None
            | Effect::Access(_)
            | Effect::Annotation(_)
            | Effect::Block(_)
            | Effect::Object(_) => {}
        }
        self.epoch += u32::from(synchronises(op));
    }

    /// A semaphore may be used as a lock.
    fn semaphore(&mut self, at: (u32, u32), effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Wait { semaphore: lock, .. } if self.semaphores.contains(&lock) => {
                self.request(at, Want::Lock { lock, shared: false });
                self.take(at, lock, false);
            }
            SemaphoreEffect::Wait { .. } => self.wait(at),
            SemaphoreEffect::Post { semaphore } if self.semaphores.contains(&semaphore) => {
                self.give(semaphore);
            }
            SemaphoreEffect::Init { .. }
            | SemaphoreEffect::Post { .. }
            | SemaphoreEffect::Failed { .. } => {}
        }
    }

    /// Waits for other threads. A thread that holds nothing meanwhile blocks nobody: a thread that
    /// waits for it waits for the same event.
    fn wait(&mut self, at: (u32, u32)) {
        if !self.held.is_empty() {
            self.request(at, Want::Others);
        }
    }

    fn request(&mut self, (index, site): (u32, u32), want: Want) {
        if let Want::Lock { lock, shared } = want
            && self.held.iter().any(|(it, ..)| it.lock == lock && (shared || !it.shared))
        {
            return;
        }
        let held = self.held.iter().map(|(it, _, site)| (it.lock, it.shared, *site)).collect();
        if self.known.insert(Same { epoch: self.epoch, site, want, held }) {
            let mut held: Vec<_> = self.held.iter().map(|it| it.0).collect();
            held.sort_unstable_by_key(|it| it.lock);
            self.all.push(Request { thread: self.number, index, want, held });
        }
    }

    fn take(&mut self, (index, site): (u32, u32), lock: u64, shared: bool) {
        match self.held.iter_mut().find(|it| it.0.lock == lock) {
            Some((hold, depth, _)) => {
                hold.shared &= shared;
                *depth += 1;
            }
            None => self.held.push((Hold { lock, shared, index }, 1, site)),
        }
    }

    fn give(&mut self, lock: u64) {
        let Some(at) = self.held.iter().position(|it| it.0.lock == lock) else { return };
        self.held[at].1 -= 1;
        if self.held[at].1 == 0 {
            self.held.remove(at);
        }
    }
}

/// Whether other threads can learn from an event how far its thread is, or it how far they are.
fn synchronises(op: &Op) -> bool {
    match op.effect() {
        Effect::Thread(_)
        | Effect::Condition(ConditionEffect::Wake { .. } | ConditionEffect::Signal { .. })
        | Effect::Barrier(BarrierEffect::Arrive { .. } | BarrierEffect::Leave { .. })
        | Effect::Semaphore(SemaphoreEffect::Post { .. } | SemaphoreEffect::Wait { .. })
        | Effect::Once(_)
        | Effect::Annotation(_) => true,
        Effect::None => matches!(op, Op::Begin { .. } | Op::End),
        Effect::Condition(ConditionEffect::Wait { .. })
        | Effect::Barrier(BarrierEffect::Init { .. })
        | Effect::Semaphore(SemaphoreEffect::Init { .. } | SemaphoreEffect::Failed { .. })
        | Effect::Access(_)
        | Effect::Lock(_)
        | Effect::Block(_)
        | Effect::Object(_) => false,
    }
}

/// Takes out what cannot be part of a cycle: requests for what no other thread holds, and
/// requests that neither hold what another thread wants nor come before what another waits for.
fn trim(all: &mut Vec<Request>, order: &Order, threads: usize) {
    loop {
        let before = all.len();
        let held =
            Users::new(all.iter().flat_map(|it| it.held.iter().map(|hold| (hold.lock, it.thread))));
        let wanted = Users::new(all.iter().filter_map(|it| match it.want {
            Want::Lock { lock, .. } => Some((lock, it.thread)),
            Want::Others => None,
        }));
        let awaited = awaited(all, order, threads);
        all.retain(|it| {
            let waits = match it.want {
                Want::Lock { lock, .. } => held.has_other(lock, it.thread),
                Want::Others => true,
            };
            let holds = it.held.iter().any(|hold| wanted.has_other(hold.lock, it.thread));
            waits && (holds || covers(&awaited[usize::from(it.thread)], it.index))
        });
        if all.len() == before {
            return;
        }
    }
}

/// By lock: one thread that uses it, and whether there is another one.
struct Users(FxHashMap<u64, (u16, bool)>);

impl Users {
    fn new(uses: impl Iterator<Item = (u64, u16)>) -> Users {
        let mut users = FxHashMap::default();
        for (lock, thread) in uses {
            let (first, others) = users.entry(lock).or_insert((thread, false));
            *others |= *first != thread;
        }
        Users(users)
    }

    fn has_other(&self, lock: u64, thread: u16) -> bool {
        self.0.get(&lock).is_some_and(|&(first, others)| others || first != thread)
    }
}

/// By thread, the ranges of events that others wait for, in order and apart.
fn awaited(all: &[Request], order: &Order, threads: usize) -> Vec<Vec<(u32, u32)>> {
    let mut ranges = vec![Vec::new(); threads];
    for request in all.iter().filter(|it| it.want == Want::Others) {
        for (other, ranges) in ranges.iter_mut().enumerate() {
            let Ok(other) = u16::try_from(other) else { break };
            ranges.extend(needed(order, request, other));
        }
    }
    ranges.into_iter().map(merge).collect()
}

/// The events of another thread in which it can be stuck so that the request is not met.
pub(crate) fn needed(order: &Order, request: &Request, other: u16) -> Option<(u32, u32)> {
    let Request { thread, index, .. } = *request;
    let has = done(order, request, other);
    let needs = order.before(thread, index, other);
    (other != thread && needs > has).then_some((has, needs))
}

/// How many events of another thread must have been when a thread comes to a request.
pub(crate) fn done(order: &Order, request: &Request, other: u16) -> u32 {
    request.index.checked_sub(1).map_or_else(
        || order.before(request.thread, 0, other),
        |last| order.before(request.thread, last, other),
    )
}

fn merge(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

fn covers(ranges: &[(u32, u32)], index: u32) -> bool {
    let at = ranges.partition_point(|it| it.0 <= index);
    at.checked_sub(1).is_some_and(|at| index < ranges[at].1)
}
