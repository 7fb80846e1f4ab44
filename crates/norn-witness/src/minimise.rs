//! Makes schedules short: fewer events, fewer context switches.
//!
//! Two events of different threads commute if they are independent. So a schedule is decomposed
//! into its events and their dependences: an access depends on the conflicting accesses before it,
//! an operation on a lock, condition or semaphore on the previous operation on the same object.
//! Then a new schedule is built from the events that the candidate's last event depends on,
//! transitively, in which each thread runs as far as it can before the next one. The order of
//! dependent events does not change, so the new schedule is possible, too, and every read sees the
//! same value.

use norn_model::{
    Cancel, Candidate, ConditionEffect, Effect, Event, EventId, Handlers, LockEffect, MemoryAccess,
    Op, ThreadEffect, ThreadId, Trace,
};
use rustc_hash::FxHashMap;

use crate::{Turn, events};

/// Makes schedules of one trace short.
#[derive(Debug)]
pub struct Minimiser<'a> {
    trace: &'a Trace,
    handlers: Handlers,
    cancel: Cancel,
}

impl<'a> Minimiser<'a> {
    /// For one trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::cancellable(trace, &Cancel::default())
    }

    /// The same, and returns something shorter that is not a schedule after a request to end.
    pub fn cancellable(trace: &'a Trace, cancel: &Cancel) -> Self {
        Minimiser { trace, handlers: Handlers::new(trace), cancel: cancel.clone() }
    }

    /// A schedule for the same candidate that is at most as long.
    pub fn minimise(&self, candidate: &Candidate, turns: &[Turn]) -> Vec<Turn> {
        let mut links = Links::default();
        for id in self.cancel.items(events(turns)) {
            if let Some(event) = self.trace.event(id) {
                links.handler(id, &event.op, &self.handlers);
                links.event(id, &event.op);
                links.conditions(self.awaited(event));
            }
        }
        if candidate.stuck.is_empty() {
            links.pattern(candidate);
        }
        let needed = links.needed_with_handlers(candidate);
        join(candidate, &links, &needed)
    }

    /// The condition of the wait that releases its mutex in this event. The release is the first
    /// half of the wait: a signal must not move between the two halves.
    fn awaited(&self, event: &Event) -> Option<u64> {
        let next = EventId { index: event.id.index + 1, ..event.id };
        let Effect::Lock(LockEffect::Release { by_wait: true, .. }) = event.op.effect() else {
            return None;
        };
        let wait = self.trace.event(next)?.op.effect();
        let Effect::Condition(ConditionEffect::Wait { cond, .. }) = wait else { return None };
        Some(cond)
    }
}

/// The events of a schedule, by their positions in it, and their dependences.
#[derive(Default)]
struct Links {
    events: Vec<EventId>,
    places: FxHashMap<EventId, usize>,
    /// By position: the earlier positions that it depends on.
    after: Vec<Vec<usize>>,
    last: FxHashMap<ThreadId, usize>,
    objects: FxHashMap<u64, usize>,
    memory: FxHashMap<u64, Cell>,
    forks: FxHashMap<ThreadId, usize>,
    interruptions: Vec<Interruption>,
    /// By thread: the handler that interrupts it, as an index.
    interrupted: FxHashMap<ThreadId, usize>,
}

/// A run of a signal handler.
struct Interruption {
    host: ThreadId,
    /// The positions of its first and last event.
    first: usize,
    last: usize,
    /// The position of the next event of the thread that it interrupts.
    next: Option<usize>,
}

/// The last accesses to some bytes.
#[derive(Default)]
struct Cell {
    write: Option<usize>,
    reads: Vec<usize>,
}

/// Bytes whose accesses are treated as conflicting. Coarser than a byte, which only adds
/// dependences.
const GRANULE: u64 = 8;

impl Links {
    /// A handler stays between the same two events of the thread that it interrupts.
    fn handler(&mut self, id: EventId, op: &Op, handlers: &Handlers) {
        let at = self.events.len();
        if let Some(number) = self.interrupted.remove(&id.thread) {
            self.interruptions[number].next = Some(at);
        }
        let Some(host) = handlers.host(id.thread) else { return };
        if let Op::HandlerBegin { .. } = op {
            self.interrupted.insert(host, self.interruptions.len());
            self.interruptions.push(Interruption { host, first: at, last: at, next: None });
        } else if let Some(run) = self.interruptions.iter_mut().rev().find(|it| it.host == host) {
            run.last = at;
        }
    }

    /// The needed events, where a handler of which some event is needed runs to its end before the
    /// interrupted thread continues.
    fn needed_with_handlers(&mut self, candidate: &Candidate) -> Vec<bool> {
        for run in &self.interruptions {
            let before = self.events[..run.first].iter().rposition(|it| it.thread == run.host);
            self.after[run.first].extend(before);
        }
        loop {
            let needed = self.needed(candidate);
            let mut complete = true;
            for run in &mut self.interruptions {
                if needed[run.first]
                    && let Some(next) = run.next.take()
                {
                    self.after[next].push(run.last);
                    complete = false;
                }
            }
            if complete {
                return needed;
            }
        }
    }

    fn event(&mut self, id: EventId, op: &Op) {
        let at = self.events.len();
        self.events.push(id);
        self.places.insert(id, at);
        let before = self.last.insert(id.thread, at);
        let fork = if before.is_none() { self.forks.get(&id.thread).copied() } else { None };
        self.after.push(before.into_iter().chain(fork).collect());
        self.depend(at, op.effect());
    }

    /// The last event concerns a condition, too.
    fn conditions(&mut self, cond: Option<u64>) {
        if let (Some(at), Some(cond)) = (self.events.len().checked_sub(1), cond) {
            self.object(at, cond);
        }
    }

    fn depend(&mut self, at: usize, effect: Effect) {
        match effect {
            Effect::Access(access) => self.access(at, &access),
            Effect::Thread(ThreadEffect::Fork(child)) => {
                self.forks.insert(child, at);
            }
            Effect::Thread(ThreadEffect::Join(child)) => {
                let end = self.last.get(&child).copied();
                self.after[at].extend(end);
            }
            Effect::None
            | Effect::Lock(_)
            | Effect::Condition(_)
            | Effect::Barrier(_)
            | Effect::Semaphore(_)
            | Effect::Once(_)
            | Effect::Annotation(_)
            | Effect::Channel(_)
            | Effect::Block(_)
            | Effect::Object(_) => {
                for object in effect.objects() {
                    self.object(at, object);
                }
            }
        }
    }

    fn object(&mut self, at: usize, object: u64) {
        let before = self.objects.insert(object, at);
        self.after[at].extend(before);
    }

    fn access(&mut self, at: usize, access: &MemoryAccess) {
        let write = access.write.is_some();
        let last = access.addr.saturating_add(access.size.max(1) - 1) / GRANULE;
        for granule in access.addr / GRANULE..=last {
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

    /// The events that the last one depends on, including itself; for a deadlock, those that the
    /// last events of the stuck threads and the candidate's steps depend on.
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

/// Runs each thread as far as it can before the next one. The candidate's events come last if they
/// have to be adjacent.
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
    /// Events that come at the end.
    held: Vec<usize>,
    turns: Vec<Turn>,
}

impl Run<'_> {
    /// Runs the first thread that can continue as far as possible; false if none can.
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
