//! Makes schedules short: fewer events, fewer switches between threads.
//!
//! Two events of different threads can change places if they have nothing to do with each other.
//! So a schedule is taken apart into its events and what each of them depends on: an access on
//! the conflicting ones before it, a lock, a condition, a semaphore on what was done to it before.
//! Then it is put together again: only what the candidate's last event depends on, each thread as
//! far as it can go before the next one. No order of dependent events changes, so what was
//! possible stays possible, and every read sees what it saw.

use norn_model::{AtomicOp, Candidate, Event, EventId, Op, ThreadId, Trace};
use rustc_hash::FxHashMap;

use crate::{Turn, events};

/// Makes schedules of one trace short.
#[derive(Debug)]
pub struct Minimiser<'a> {
    trace: &'a Trace,
}

impl<'a> Minimiser<'a> {
    /// For one trace.
    pub fn new(trace: &'a Trace) -> Self {
        Minimiser { trace }
    }

    /// The same anomaly, with less around it.
    pub fn minimise(&self, candidate: &Candidate, turns: &[Turn]) -> Vec<Turn> {
        let mut links = Links::default();
        for id in events(turns) {
            if let Some(event) = self.trace.event(id) {
                links.event(id, &event.op);
                links.conditions(self.awaited(event));
            }
        }
        if candidate.stuck.is_empty() {
            links.pattern(candidate);
        }
        let needed = links.needed(candidate);
        join(candidate, &links, &needed)
    }

    /// The condition for which a wait begins: giving the mutex back is the first half of it.
    fn awaited(&self, event: &Event) -> Option<u64> {
        let next = EventId { index: event.id.index + 1, ..event.id };
        match (event.op, self.trace.event(next)?.op) {
            (Op::WaitRelease { .. }, Op::Wait { cond, .. }) => Some(cond),
            _ => None,
        }
    }
}

/// The events of a schedule, by their places in it, and what they depend on.
#[derive(Default)]
struct Links {
    events: Vec<EventId>,
    places: FxHashMap<EventId, usize>,
    /// By place: earlier places that must stay earlier.
    after: Vec<Vec<usize>>,
    last: FxHashMap<ThreadId, usize>,
    objects: FxHashMap<u64, usize>,
    memory: FxHashMap<u64, Cell>,
    forks: FxHashMap<ThreadId, usize>,
}

/// Who touched some bytes last.
#[derive(Default)]
struct Cell {
    write: Option<usize>,
    reads: Vec<usize>,
}

/// Bytes that are looked at together.
const GRANULE: u64 = 8;

impl Links {
    fn event(&mut self, id: EventId, op: &Op) {
        let at = self.events.len();
        self.events.push(id);
        self.places.insert(id, at);
        let before = self.last.insert(id.thread, at);
        let fork = if before.is_none() { self.forks.get(&id.thread).copied() } else { None };
        self.after.push(before.into_iter().chain(fork).collect());
        self.depend(at, op);
    }

    /// The last event is about a condition, too.
    fn conditions(&mut self, cond: Option<u64>) {
        if let (Some(at), Some(cond)) = (self.events.len().checked_sub(1), cond) {
            self.object(at, cond);
        }
    }

    fn depend(&mut self, at: usize, op: &Op) {
        match *op {
            Op::Read { addr, size, .. } => self.access(at, addr, size, false),
            Op::Write { addr, size, .. } => self.access(at, addr, size, true),
            Op::Atomic { addr, size, op, .. } => {
                let writes = !matches!(op, AtomicOp::Load(_) | AtomicOp::CasFailed { .. });
                self.access(at, addr, size.into(), writes);
            }
            Op::Fork(child) => {
                self.forks.insert(child, at);
            }
            Op::Join(child) => {
                let end = self.last.get(&child).copied();
                self.after[at].extend(end);
            }
            Op::Acquire { lock: object, .. }
            | Op::AcquireFailed { lock: object, .. }
            | Op::Release { lock: object, .. }
            | Op::WaitRelease { lock: object }
            | Op::Signal { cond: object }
            | Op::Broadcast { cond: object }
            | Op::BarrierEnter { barrier: object }
            | Op::BarrierLeave { barrier: object, .. }
            | Op::SemPost { semaphore: object }
            | Op::SemWait { semaphore: object, .. }
            | Op::SemFailed { semaphore: object, .. }
            | Op::OnceBegin { once: object }
            | Op::OnceEnd { once: object, .. }
            | Op::OnceDone { once: object }
            | Op::HappensBefore { object }
            | Op::HappensAfter { object }
            | Op::Init { object, .. }
            | Op::Destroy { object, .. }
            | Op::Alloc { addr: object, .. }
            | Op::Free { addr: object }
            | Op::Map { addr: object, .. }
            | Op::Unmap { addr: object, .. } => self.object(at, object),
            Op::Wait { cond, lock, .. } | Op::WaitAcquire { cond, lock, .. } => {
                self.object(at, cond);
                self.object(at, lock);
            }
            Op::Begin { .. }
            | Op::End
            | Op::Detach(_)
            | Op::Cancel(_)
            | Op::HandlerBegin { .. }
            | Op::HandlerEnd
            | Op::Fence(_)
            | Op::Call { .. }
            | Op::Return { .. }
            | Op::Mark { .. }
            | Op::RegionBegin
            | Op::RegionEnd
            | Op::Sleep { .. }
            | Op::Yield
            | Op::ProcessFork { .. }
            | Op::Exec
            | Op::Exit { .. }
            | Op::Abort => {}
        }
    }

    fn object(&mut self, at: usize, object: u64) {
        let before = self.objects.insert(object, at);
        self.after[at].extend(before);
    }

    fn access(&mut self, at: usize, addr: u64, size: u64, write: bool) {
        let last = addr.saturating_add(size.max(1) - 1) / GRANULE;
        for granule in addr / GRANULE..=last {
            let cell = self.memory.entry(granule).or_default();
            self.after[at].extend(cell.write);
            if write {
                self.after[at].append(&mut cell.reads);
                cell.write = Some(at);
            } else {
                cell.reads.push(at);
            }
        }
    }

    /// The candidate's events stay in their order.
    fn pattern(&mut self, candidate: &Candidate) {
        let places = candidate.steps.iter().filter_map(|it| self.places.get(&it.event).copied());
        let places: Vec<_> = places.collect();
        for pair in places.windows(2) {
            self.after[pair[1]].push(pair[0]);
        }
    }

    /// What the last event depends on, itself included; or what the threads that get stuck have done
    /// last, and what was to happen before.
    fn needed(&self, candidate: &Candidate) -> Vec<bool> {
        let mut needed = vec![false; self.events.len()];
        if let Some(last) = needed.last_mut() {
            *last = candidate.stuck.is_empty();
        }
        let last = candidate.stuck.iter().filter_map(|it| self.last.get(&it.event.thread));
        let steps = candidate.steps.iter().filter_map(|it| self.places.get(&it.event));
        for at in last.chain(steps) {
            needed[*at] = true;
        }
        for at in (0..needed.len()).rev() {
            if needed[at] {
                for before in &self.after[at] {
                    needed[*before] = true;
                }
            }
        }
        needed
    }
}

/// Lets each thread go as far as it can before the next one. The candidate's events come last if
/// they must follow each other at once.
fn join(candidate: &Candidate, links: &Links, needed: &[bool]) -> Vec<Turn> {
    let mut queues: Vec<(ThreadId, Vec<usize>, usize)> = Vec::new();
    for (at, id) in links.events.iter().enumerate().filter(|(at, _)| needed[*at]) {
        match queues.iter_mut().find(|it| it.0 == id.thread) {
            Some(queue) => queue.1.push(at),
            None => queues.push((id.thread, vec![at], 0)),
        }
    }
    let held: Vec<_> = if candidate.adjacent {
        candidate.steps.iter().filter_map(|it| links.places.get(&it.event).copied()).collect()
    } else {
        Vec::new()
    };
    let mut run = Run { links, done: vec![false; needed.len()], held, turns: Vec::new() };
    while run.round(&mut queues) {}
    for at in std::mem::take(&mut run.held) {
        run.step(at);
    }
    run.turns
}

struct Run<'a> {
    links: &'a Links,
    done: Vec<bool>,
    /// Events that wait for the end.
    held: Vec<usize>,
    turns: Vec<Turn>,
}

impl Run<'_> {
    /// The thread that comes farthest goes on; false if none can.
    fn round(&mut self, queues: &mut [(ThreadId, Vec<usize>, usize)]) -> bool {
        let Some(queue) = queues.iter_mut().find(|it| self.can(it.1.get(it.2))) else {
            return false;
        };
        while self.can(queue.1.get(queue.2)) {
            self.step(queue.1[queue.2]);
            queue.2 += 1;
        }
        true
    }

    fn can(&self, at: Option<&usize>) -> bool {
        let free = |at: &usize| self.links.after[*at].iter().all(|it| self.done[*it]);
        at.is_some_and(|at| !self.held.contains(at) && free(at))
    }

    fn step(&mut self, at: usize) {
        self.done[at] = true;
        let EventId { thread, index } = self.links.events[at];
        match self.turns.last_mut() {
            Some(turn) if turn.thread == thread => turn.until = index + 1,
            _ => self.turns.push(Turn { thread, until: index + 1 }),
        }
    }
}
