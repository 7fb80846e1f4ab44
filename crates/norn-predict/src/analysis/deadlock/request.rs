//! The events in which threads may have to wait, and the locks held there.

use std::collections::BTreeSet;

use norn_model::{
    BarrierEffect, ConditionEffect, Effect, LockEffect, LockMode, OnceEffect, Op, Outcome, Role,
    SemaphoreEffect, Thread, ThreadEffect, Trace, WokenBy,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{order::Order, outline::narrow};

/// Maximum number of requests of a trace.
const MAX_REQUESTS: usize = 50_000;

/// An event in which a thread may have to wait, and the locks it holds there.
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
        /// The lock.
        lock: u64,
        /// With whom the thread would share it.
        sharing: Sharing,
    },
    /// Events of other threads: a thread's end, a signal, a post, an arrival.
    Others,
}

/// With whom a thread would share a lock that it requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sharing {
    /// With no other thread.
    Exclusive,
    /// With readers.
    Readers,
    /// With readers, but only while no writer waits.
    Queued,
}

impl Sharing {
    pub(crate) fn is_shared(self) -> bool {
        self != Sharing::Exclusive
    }
}

/// A held lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) lock: u64,
    pub(crate) shared: bool,
    /// The event that acquired it.
    pub(crate) index: u32,
}

/// The requests of all threads that can be part of a cycle; those of a thread in program order.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) all: Vec<Request>,
    pub(crate) left_out: u64,
}

/// The key of equivalent requests of a thread. Between two synchronisation points, the
/// happens-before order does not distinguish them.
#[derive(PartialEq, Eq, Hash)]
struct RequestKey {
    epoch: u32,
    site: u32,
    want: Want,
    held: Vec<(u64, bool, u32)>,
}

impl Requests {
    /// Collects the requests of a trace.
    pub(crate) fn new(trace: &Trace, order: &Order, semaphores: &BTreeSet<u64>) -> Requests {
        let threads = trace.threads.par_iter().enumerate();
        let each = threads.map(|(number, thread)| {
            let Ok(number) = u16::try_from(number) else { return Vec::new() };
            RequestScan::new(number, semaphores).requests(thread)
        });
        let mut all: Vec<_> = each.collect::<Vec<_>>().into_iter().flatten().collect();
        trim(&mut all, order, trace.threads.len());
        let left_out = all.len().saturating_sub(MAX_REQUESTS) as u64;
        all.truncate(MAX_REQUESTS);
        Requests { all, left_out }
    }
}

struct RequestScan<'a> {
    number: u16,
    semaphores: &'a BTreeSet<u64>,
    /// With the recursion depth and the site of the acquisition.
    held: Vec<(Hold, u32, u32)>,
    epoch: u32,
    known: FxHashSet<RequestKey>,
    all: Vec<Request>,
}

impl<'a> RequestScan<'a> {
    fn new(number: u16, semaphores: &'a BTreeSet<u64>) -> Self {
        let (held, known, all) = (Vec::new(), FxHashSet::default(), Vec::new());
        RequestScan { number, semaphores, held, epoch: 0, known, all }
    }

    fn requests(mut self, thread: &Thread) -> Vec<Request> {
        // Signal handlers cannot be scheduled.
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
                if let Some(sharing) = sharing(mode, how) {
                    self.request(at, Want::Lock { lock, sharing });
                }
                self.acquire(at, lock, shared);
            }
            Effect::Lock(LockEffect::Release { lock, .. }) => self.release(lock),
            Effect::Semaphore(effect) => self.semaphore(at, effect),
            Effect::Condition(ConditionEffect::Wake { lock, woken, .. }) => {
                if matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_)) {
                    self.wait(at);
                }
                self.request(at, Want::Lock { lock, sharing: Sharing::Exclusive });
                self.acquire(at, lock, false);
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
            | Effect::Channel(_)
            | Effect::Block(_)
            | Effect::Object(_) => {}
        }
        self.epoch += u32::from(synchronises(op));
    }

    /// A semaphore may be used as a lock.
    fn semaphore(&mut self, at: (u32, u32), effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Wait { semaphore: lock, .. } if self.semaphores.contains(&lock) => {
                self.request(at, Want::Lock { lock, sharing: Sharing::Exclusive });
                self.acquire(at, lock, false);
            }
            SemaphoreEffect::Wait { .. } => self.wait(at),
            SemaphoreEffect::Post { semaphore } if self.semaphores.contains(&semaphore) => {
                self.release(semaphore);
            }
            SemaphoreEffect::Init { .. }
            | SemaphoreEffect::Post { .. }
            | SemaphoreEffect::Failed { .. } => {}
        }
    }

    /// Waits for other threads. A thread that holds nothing meanwhile blocks no other thread: a
    /// thread that waits for it waits for the same event.
    fn wait(&mut self, at: (u32, u32)) {
        if !self.held.is_empty() {
            self.request(at, Want::Others);
        }
    }

    fn request(&mut self, (index, site): (u32, u32), want: Want) {
        // A thread waits for a lock that it holds only if it is to hold it alone from now on, or if it has to
        // queue behind a writer that waits.
        if let Want::Lock { lock, sharing } = want
            && let Some((held, ..)) = self.held.iter().find(|it| it.0.lock == lock)
            && (!held.shared || sharing == Sharing::Readers)
        {
            return;
        }
        let held = self.held.iter().map(|(it, _, site)| (it.lock, it.shared, *site)).collect();
        if self.known.insert(RequestKey { epoch: self.epoch, site, want, held }) {
            let mut held: Vec<_> = self.held.iter().map(|it| it.0).collect();
            held.sort_unstable_by_key(|it| it.lock);
            self.all.push(Request { thread: self.number, index, want, held });
        }
    }

    fn acquire(&mut self, (index, site): (u32, u32), lock: u64, shared: bool) {
        match self.held.iter_mut().find(|it| it.0.lock == lock) {
            Some((hold, depth, _)) => {
                hold.shared &= shared;
                *depth += 1;
            }
            None => self.held.push((Hold { lock, shared, index }, 1, site)),
        }
    }

    fn release(&mut self, lock: u64) {
        let Some(at) = self.held.iter().position(|it| it.0.lock == lock) else { return };
        self.held[at].1 -= 1;
        if self.held[at].1 == 0 {
            self.held.remove(at);
        }
    }
}

/// How a request waits; none if it does not wait for ever.
fn sharing(mode: LockMode, how: Outcome) -> Option<Sharing> {
    match how {
        Outcome::Tried | Outcome::Timed => None,
        Outcome::Queued => Some(Sharing::Queued),
        Outcome::Waited | Outcome::OwnerDied if mode == LockMode::Read => Some(Sharing::Readers),
        Outcome::Waited | Outcome::OwnerDied => Some(Sharing::Exclusive),
    }
}

/// Whether an event can order the thread with respect to others.
fn synchronises(op: &Op) -> bool {
    match op.effect() {
        Effect::Thread(_)
        | Effect::Condition(ConditionEffect::Wake { .. } | ConditionEffect::Signal { .. })
        | Effect::Barrier(BarrierEffect::Arrive { .. } | BarrierEffect::Leave { .. })
        | Effect::Semaphore(SemaphoreEffect::Post { .. } | SemaphoreEffect::Wait { .. })
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_) => true,
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

/// Removes requests that cannot be part of a cycle: those for something that no other thread holds,
/// and those that neither hold something another thread requests nor precede an event another
/// thread waits for.
fn trim(all: &mut Vec<Request>, order: &Order, threads: usize) {
    loop {
        let before = all.len();
        let held =
            Users::new(all.iter().flat_map(|it| it.held.iter().map(|hold| (hold.lock, it.thread))));
        let wanted = Users::new(all.iter().filter_map(|it| match it.want {
            Want::Lock { lock, .. } => Some((lock, it.thread)),
            Want::Others => None,
        }));
        let queued = Users::new(all.iter().filter_map(|it| match it.want {
            Want::Lock { lock, sharing: Sharing::Queued } => Some((lock, it.thread)),
            Want::Lock { .. } | Want::Others => None,
        }));
        let awaited = awaited(all, order, threads);
        all.retain(|it| {
            let waits = match it.want {
                Want::Lock { lock, sharing } => {
                    held.has_other(lock, it.thread)
                        || sharing == Sharing::Queued && wanted.has_other(lock, it.thread)
                }
                Want::Others => true,
            };
            let holds = it.held.iter().any(|hold| wanted.has_other(hold.lock, it.thread));
            // Readers wait for a writer that waits.
            let is_queued_behind = match it.want {
                Want::Lock { lock, sharing: Sharing::Exclusive } => {
                    queued.has_other(lock, it.thread)
                }
                Want::Lock { .. } | Want::Others => false,
            };
            let is_awaited = || covers(&awaited[usize::from(it.thread)], it.index);
            waits && (holds || is_queued_behind || is_awaited())
        });
        if all.len() == before {
            return;
        }
    }
}

/// By lock: one thread that uses it, and whether another one does.
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

/// By thread: the ranges of events that others wait for, sorted and disjoint.
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

/// The events of another thread at which it can be stuck such that the request is not satisfied.
pub(crate) fn needed(order: &Order, request: &Request, other: u16) -> Option<(u32, u32)> {
    let Request { thread, index, .. } = *request;
    let has = done(order, request, other);
    let needs = order.before(thread, index, other);
    (other != thread && needs > has).then_some((has, needs))
}

/// Number of events of another thread that must precede a request.
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
