//! The dependences between the events of a schedule.
//!
//! Two events of different threads commute if they are independent. An access depends on the
//! conflicting accesses before it, an operation on a lock, condition or semaphore on the previous
//! operation on the same object.

use norn_model::{Effect, EventId, Handlers, MemoryAccess, Op, ThreadEffect, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// Bytes whose accesses are treated as conflicting. Coarser than a byte, which only adds
/// dependences.
const GRANULE: u64 = 8;

/// The events of a schedule, by their positions in it, and their dependences. Threads are numbered in
/// the order of the trace.
pub(crate) struct Links<'a> {
    trace: &'a Trace,
    /// By position: thread and index.
    pub(crate) events: Vec<(u32, u32)>,
    /// By thread: the index of its first event, and the positions of its events.
    firsts: Vec<u32>,
    places: Vec<Vec<u32>>,
    /// The earlier positions that each position depends on, one after another, and by position the
    /// end of its part.
    after: Vec<u32>,
    ends: Vec<u32>,
    /// Further dependences.
    more: FxHashMap<u32, Vec<u32>>,
    objects: FxHashMap<u64, u32>,
    memory: FxHashMap<u64, Cell>,
    forks: FxHashMap<u32, u32>,
    interruptions: Vec<Interruption>,
    /// By thread: the handler that interrupts it, as an index.
    interrupted: FxHashMap<u32, usize>,
}

/// A run of a signal handler.
struct Interruption {
    host: u32,
    /// The positions of its first and last event.
    first: u32,
    last: u32,
    /// The position of the next event of the thread that it interrupts.
    next: Option<u32>,
}

/// The last accesses to some bytes: the write, and the last read of each thread since.
#[derive(Default)]
struct Cell {
    write: Option<u32>,
    reads: Vec<(u32, u32)>,
}

impl<'a> Links<'a> {
    /// For events after a point at which each thread has done some of its events.
    pub(crate) fn new(trace: &'a Trace, done: &[u32]) -> Self {
        Links {
            trace,
            events: Vec::new(),
            firsts: done.to_vec(),
            places: vec![Vec::new(); done.len()],
            after: Vec::new(),
            ends: Vec::new(),
            more: FxHashMap::default(),
            objects: FxHashMap::default(),
            memory: FxHashMap::default(),
            forks: FxHashMap::default(),
            interruptions: Vec::new(),
            interrupted: FxHashMap::default(),
        }
    }

    fn number(&self, id: ThreadId) -> Option<u32> {
        let at = self.trace.threads.binary_search_by_key(&id, |it| it.id).ok()?;
        u32::try_from(at).ok()
    }

    /// The position of an event, if it is in the schedule.
    pub(crate) fn place(&self, id: EventId) -> Option<u32> {
        let thread = self.number(id.thread)? as usize;
        let at = usize::try_from(id.index).ok()?.checked_sub(self.firsts[thread] as usize)?;
        self.places[thread].get(at).copied()
    }

    /// The position of the last event of a thread.
    pub(crate) fn last(&self, id: ThreadId) -> Option<u32> {
        self.places[self.number(id)? as usize].last().copied()
    }

    /// The positions that a position depends on.
    pub(crate) fn before(&self, at: u32) -> impl Iterator<Item = u32> {
        let from = (at as usize).checked_sub(1).map_or(0, |it| self.ends[it]);
        let fixed = &self.after[from as usize..self.ends[at as usize] as usize];
        fixed.iter().chain(self.more.get(&at).into_iter().flatten()).copied()
    }

    /// Adds a dependence between positions.
    pub(crate) fn depend(&mut self, at: u32, before: u32) {
        self.more.entry(at).or_default().push(before);
    }

    /// Adds the next event. `cond` is a condition that it concerns besides its own objects.
    pub(crate) fn event(
        &mut self,
        (thread, index): (u32, u32),
        op: &Op,
        cond: Option<u64>,
        handlers: &Handlers,
    ) {
        let at = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        if !handlers.is_empty() {
            self.handler(at, thread, op, handlers);
        }
        self.events.push((thread, index));
        let places = &mut self.places[thread as usize];
        let before = places.last().copied();
        places.push(at);
        let fork = if before.is_none() { self.forks.get(&thread).copied() } else { None };
        self.after.extend(before.or(fork));
        self.effect((at, thread), op.effect());
        if let Some(cond) = cond {
            self.object(at, cond);
        }
        self.ends.push(u32::try_from(self.after.len()).unwrap_or(u32::MAX));
    }

    fn effect(&mut self, (at, thread): (u32, u32), effect: Effect) {
        match effect {
            Effect::Access(access) => self.access((at, thread), &access),
            Effect::Thread(ThreadEffect::Fork(child)) => {
                if let Some(child) = self.number(child) {
                    self.forks.insert(child, at);
                }
            }
            Effect::Thread(ThreadEffect::Join(child)) => {
                let end = self.last(child);
                self.after.extend(end);
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

    fn object(&mut self, at: u32, object: u64) {
        let before = self.objects.insert(object, at).filter(|it| *it != at);
        self.after.extend(before);
    }

    fn access(&mut self, (at, thread): (u32, u32), access: &MemoryAccess) {
        let last = access.addr.saturating_add(access.size.max(1) - 1) / GRANULE;
        for granule in access.addr / GRANULE..=last {
            let cell = self.memory.entry(granule).or_default();
            self.after.extend(cell.write);
            if access.write.is_some() {
                self.after.extend(cell.reads.drain(..).map(|it| it.1));
                cell.write = Some(at);
            } else if let Some(read) = cell.reads.iter_mut().find(|it| it.0 == thread) {
                // The thread's own order has the earlier one.
                read.1 = at;
            } else {
                cell.reads.push((thread, at));
            }
        }
    }

    /// A handler stays between the same two events of the thread that it interrupts.
    fn handler(&mut self, at: u32, thread: u32, op: &Op, handlers: &Handlers) {
        if let Some(number) = self.interrupted.remove(&thread) {
            self.interruptions[number].next = Some(at);
        }
        let host = handlers.host(self.trace.threads[thread as usize].id);
        let Some(host) = host.and_then(|it| self.number(it)) else { return };
        let known = self.interruptions.iter_mut().rev().find(|it| it.host == host);
        if let Some(run) = known.filter(|_| !matches!(op, Op::HandlerBegin { .. })) {
            run.last = at;
            return;
        }
        // It may also have begun before the first of these events.
        self.interrupted.insert(host, self.interruptions.len());
        self.interruptions.push(Interruption { host, first: at, last: at, next: None });
    }

    /// Lets each handler begin after the event that it interrupts.
    pub(crate) fn place_handlers(&mut self) {
        for at in 0..self.interruptions.len() {
            let run = &self.interruptions[at];
            let places = &self.places[run.host as usize];
            let before = places.partition_point(|it| *it < run.first).checked_sub(1);
            if let Some(before) = before.map(|it| places[it]) {
                self.depend(self.interruptions[at].first, before);
            }
        }
    }

    /// Lets the handlers of which some event is needed end before the interrupted thread continues;
    /// returns whether that is new.
    pub(crate) fn finish_handlers(&mut self, needed: &[bool]) -> bool {
        let mut found = Vec::new();
        for run in self.interruptions.iter_mut().filter(|it| needed[it.first as usize]) {
            found.extend(run.next.take().map(|next| (next, run.last)));
        }
        for (next, last) in &found {
            self.depend(*next, *last);
        }
        !found.is_empty()
    }
}
