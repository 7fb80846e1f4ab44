//! Cycles of threads, each of which waits for the next one.
//!
//! The search follows the relation "waits for what that one holds". All threads of a cycle are
//! different, the first one has the smallest number, and each new one must be able to be at its
//! request at the same time as all the others. A cycle with a redundant thread is left out: the
//! others form a shorter cycle. Short cycles are searched first, and with the largest budget,
//! because deadlocks of few threads are the most likely.

use std::collections::BTreeMap;

use norn_model::{Op, Scope, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{
    JOIN_HOLDING, LOCK_CYCLE, READ_BEHIND_WRITER, WAIT_HOLDING,
    request::{Request, Requests, Sharing, Want, done, needed},
};
use crate::{
    order::Order,
    top_k::{EventPlace, Instance, Key},
};

/// Maximum number of requests visited per cycle length: from one request, and from all together;
/// half as many for each greater length.
const MAX_VISITS_PER_REQUEST: u32 = 20_000;
const MAX_VISITS: u32 = 2_000_000;
/// The cost of a cycle, in visited requests.
const CYCLE: u32 = 50;

/// Searches for cycles.
pub(crate) struct Cycles<'a> {
    order: &'a Order,
    requests: &'a [Request],
    /// By lock: the requests that hold it.
    holders: FxHashMap<u64, Vec<usize>>,
    /// By lock: the requests to hold it alone.
    writers: FxHashMap<u64, Vec<usize>>,
    /// By thread: its requests.
    threads: BTreeMap<u16, Vec<usize>>,
    /// The remaining budget, from this request and in total.
    left: (u32, u32),
    /// Whether there may be longer cycles.
    longer: bool,
    /// Number of requests whose search was cut.
    pub(crate) left_out: u64,
}

/// A cycle: each request waits for what the next one holds.
pub(crate) type Cycle<'a> = [&'a Request];

impl<'a> Cycles<'a> {
    pub(crate) fn new(order: &'a Order, requests: &'a Requests) -> Self {
        let mut holders: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut writers: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut threads: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for (at, request) in requests.all.iter().enumerate() {
            threads.entry(request.thread).or_default().push(at);
            for hold in &request.held {
                holders.entry(hold.lock).or_default().push(at);
            }
            if let Want::Lock { lock, sharing: Sharing::Exclusive } = request.want {
                writers.entry(lock).or_default().push(at);
            }
        }
        let (requests, left) = (&requests.all, (0, MAX_VISITS));
        Cycles { order, requests, holders, writers, threads, left, longer: false, left_out: 0 }
    }

    /// Reports every cycle once.
    pub(crate) fn search(&mut self, mut found: impl FnMut(&Cycle<'a>)) {
        let threads = self.threads.len();
        for (length, shift) in (2..=threads).zip(0..) {
            self.left.1 = MAX_VISITS.checked_shr(shift).unwrap_or(0);
            self.longer = false;
            let mut left_out = 0;
            for first in self.requests {
                self.left.0 = MAX_VISITS_PER_REQUEST;
                self.extend(&mut vec![first], length, &mut found);
                left_out += u64::from(self.left.0 == 0 || self.left.1 == 0);
            }
            self.left_out = self.left_out.max(left_out);
            if !self.longer {
                return;
            }
        }
    }

    fn extend(
        &mut self,
        path: &mut Vec<&'a Request>,
        length: usize,
        found: &mut impl FnMut(&Cycle<'a>),
    ) {
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else { return };
        if path.len() > 1 && self.waits_for(last, first) {
            if path.len() == length {
                self.spend(CYCLE);
                found(path);
            }
            return;
        }
        if path.len() == length {
            self.longer = true;
            return;
        }
        for next in self.next(last) {
            if self.left.0 == 0 || self.left.1 == 0 {
                return;
            }
            self.spend(1);
            let next = &self.requests[next];
            let later = next.thread > first.thread;
            if later
                && self.waits_for(last, next)
                && path.iter().all(|it| self.can_coincide(it, next))
            {
                path.push(next);
                self.extend(path, length, found);
                path.pop();
            }
        }
    }

    fn spend(&mut self, cost: u32) {
        self.left = (self.left.0.saturating_sub(cost), self.left.1.saturating_sub(cost));
    }

    /// Requests that may keep this one waiting.
    fn next(&self, request: &Request) -> Vec<usize> {
        match request.want {
            Want::Lock { lock, sharing } => {
                let writers = self.writers.get(&lock).filter(|_| sharing == Sharing::Queued);
                let all = self.holders.get(&lock).into_iter().chain(writers).flatten();
                let mut all: Vec<_> = all.copied().collect();
                all.sort_unstable();
                all.dedup();
                all
            }
            Want::Others => {
                let mut all = Vec::new();
                for (&other, requests) in &self.threads {
                    if let Some((from, to)) = needed(self.order, request, other) {
                        let place =
                            |index| requests.partition_point(|it| self.requests[*it].index < index);
                        all.extend_from_slice(&requests[place(from)..place(to)]);
                    }
                }
                all.sort_unstable();
                all
            }
        }
    }

    /// Whether one request cannot proceed before the other does.
    fn waits_for(&self, one: &Request, other: &Request) -> bool {
        match one.want {
            Want::Lock { lock, sharing } => {
                let hold = other.held.iter().find(|it| it.lock == lock);
                let is_held = hold.is_some_and(|it| !(sharing.is_shared() && it.shared));
                let writes = Want::Lock { lock, sharing: Sharing::Exclusive };
                let is_queued = sharing == Sharing::Queued && other.want == writes;
                one.thread != other.thread && (is_held || is_queued)
            }
            Want::Others => {
                let range = needed(self.order, one, other.thread);
                range.is_some_and(|(from, to)| (from..to).contains(&other.index))
            }
        }
    }

    /// Whether two threads can be at their requests at the same time.
    fn can_coincide(&self, one: &Request, other: &Request) -> bool {
        let excludes = |lock: u64, shared: bool| {
            let theirs = other.held.iter().find(|it| it.lock == lock);
            theirs.is_some_and(|it| !(shared && it.shared))
        };
        one.thread != other.thread
            && !one.held.iter().any(|it| excludes(it.lock, it.shared))
            && done(self.order, one, other.thread) <= other.index
            && done(self.order, other, one.thread) <= one.index
    }
}

/// The instance of a cycle. It begins with the smallest sites, so that it does not depend on which
/// thread takes which part.
pub(crate) fn instance(trace: &Trace, cycle: &Cycle<'_>) -> (Key, Instance) {
    let turned = |by: usize| cycle.iter().cycle().skip(by).take(cycle.len()).copied();
    let turns = (0..cycle.len()).map(|by| turned(by).collect::<Vec<_>>());
    let least = turns.min_by_key(|it| {
        (sites(trace, &places(trace, it)), it.iter().map(|it| it.thread).collect::<Vec<_>>())
    });
    let cycle = least.unwrap_or_default();
    let places = places(trace, &cycle);
    let key = Key {
        scope: Scope::Single,
        pattern: kind(trace, &cycle),
        sites: sites(trace, &places),
        locked: u16::try_from(cycle.len()).unwrap_or(u16::MAX),
    };
    let cost = cycle.iter().map(|it| u64::from(it.index)).sum();
    (key, Instance { ordered: true, apart: 0, cost, steps: places })
}

/// The requests, followed by the acquisitions of what they wait for.
fn places(trace: &Trace, cycle: &Cycle<'_>) -> SmallVec<[EventPlace; 4]> {
    let stuck = cycle.iter().map(|it| EventPlace {
        thread: it.thread,
        index: it.index,
        addr: wanted(trace, it),
    });
    let next = cycle.iter().cycle().skip(1);
    let taken = cycle.iter().zip(next).filter_map(|(one, other)| {
        let Want::Lock { lock, .. } = one.want else { return None };
        let hold = other.held.iter().find(|it| it.lock == lock)?;
        Some(EventPlace { thread: other.thread, index: hold.index, addr: lock })
    });
    stuck.chain(taken).collect()
}

/// The object of a request: a lock, a condition, a semaphore; 0 for a thread.
fn wanted(trace: &Trace, request: &Request) -> u64 {
    if let Want::Lock { lock, .. } = request.want {
        return lock;
    }
    op(trace, request.thread, request.index).effect().objects().next().unwrap_or(0)
}

fn kind(trace: &Trace, cycle: &Cycle<'_>) -> u16 {
    if let [one, other] = cycle
        && (is_read_again(one) || is_read_again(other))
    {
        return READ_BEHIND_WRITER;
    }
    let mut waits = cycle.iter().filter(|it| it.want == Want::Others);
    match waits.next().map(|it| op(trace, it.thread, it.index)) {
        None => LOCK_CYCLE,
        Some(Op::Join(_)) => JOIN_HOLDING,
        Some(_) => WAIT_HOLDING,
    }
}

/// Whether a thread requests a lock that it holds for reading, behind a writer.
fn is_read_again(request: &Request) -> bool {
    match request.want {
        Want::Lock { lock, sharing: Sharing::Queued } => {
            request.held.iter().any(|it| it.lock == lock)
        }
        Want::Lock { .. } | Want::Others => false,
    }
}

fn sites(trace: &Trace, places: &[EventPlace]) -> SmallVec<[u32; 4]> {
    let site =
        |it: &EventPlace| trace.threads[usize::from(it.thread)].events[it.index as usize].site.0;
    places.iter().map(site).collect()
}

fn op(trace: &Trace, thread: u16, index: u32) -> Op {
    trace.threads[usize::from(thread)].events[index as usize].op
}
