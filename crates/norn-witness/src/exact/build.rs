//! Builds the [`Model`] of a trace in one pass.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    AnnotationEffect, BarrierEffect, BlockEffect, Cancel, ChannelEffect, ConditionEffect, Effect,
    Event, Handlers, LockEffect, LockMode, MemoryAccess, Object, ObjectEffect, OnceEffect, Op,
    Role, SemaphoreEffect, ThreadEffect, ThreadId, Trace, WokenBy, mutexes,
};
use rustc_hash::FxHashMap;

use super::{
    cell::{Cells, GONE, THERE, Touch},
    edge::Edges,
    model::{ByThread, Facet, Model, NEVER, Node, Section, Try, Wake},
    reach::Reach,
};

/// Of longer accesses only the first bytes are modelled: their values are not recorded anyway.
const LONGEST: u64 = 64;

/// Numbers for objects, in the order of their first events.
#[derive(Default)]
struct Numbers(FxHashMap<u64, u32>);

impl Numbers {
    /// The number, and whether it is new.
    fn of(&mut self, object: u64) -> (u32, bool) {
        let new = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let number = *self.0.entry(object).or_insert(new);
        (number, number == new)
    }
}

/// Looks an object up; it is added with its default if it is new.
fn entry<'a, T: Default>(
    numbers: &mut Numbers,
    all: &'a mut Vec<T>,
    object: u64,
) -> (u32, &'a mut T) {
    let (number, new) = numbers.of(object);
    if new {
        all.push(T::default());
    }
    (number, &mut all[number as usize])
}

fn push(lists: &mut ByThread, thread: u32, node: Node) {
    match lists.iter_mut().find(|it| it.0 == thread) {
        Some(list) => list.1.push(node),
        None => lists.push((thread, vec![node])),
    }
}

/// Builds a model, event by event in the recorded order.
pub(crate) struct Builder<'a> {
    model: Model<'a>,
    facets: Vec<(Node, Facet)>,
    edges: Edges,
    locks: Numbers,
    conds: Numbers,
    semaphores: Numbers,
    barriers: Numbers,
    onces: Numbers,
    /// Semaphores that are used as mutexes.
    mutexes: BTreeSet<u64>,
    /// By lock and thread: the section that is open, and how many times the lock is held.
    held: FxHashMap<(u32, u32), (u32, u32)>,
    waits: FxHashMap<u32, Node>,
    /// By condition: signals that ended no wait yet.
    signals: Vec<Vec<(Node, bool)>>,
    arrived: FxHashMap<u32, u64>,
    counts: FxHashMap<u32, (i64, bool)>,
    begun: FxHashMap<u32, u32>,
    memory: Vec<Touch>,
    heap: Vec<Touch>,
    /// By address: the end of the block that was allocated there, and the event.
    given: FxHashMap<u64, (u64, Node)>,
    freed: Freed,
    handlers: Handlers,
    /// If there are handlers: the last event of each thread.
    last: FxHashMap<ThreadId, Node>,
}

/// The semaphores that are used as mutexes. One with a failed attempt is not among them: whether an
/// attempt fails depends on the count.
fn locks(trace: &Trace) -> BTreeSet<u64> {
    let events = trace.threads.iter().flat_map(|it| &it.events);
    let mut locks = mutexes(events.clone().map(|it| (it.id.thread, &it.op)));
    for event in events {
        if let Effect::Semaphore(SemaphoreEffect::Failed { semaphore }) = event.op.effect() {
            locks.remove(&semaphore);
        }
    }
    locks
}

/// The memory that is freed at some time: by address, the end.
struct Freed(BTreeMap<u64, u64>);

impl Freed {
    fn new(trace: &Trace) -> Self {
        let mut sizes: FxHashMap<u64, u64> = FxHashMap::default();
        let events = || trace.threads.iter().flat_map(|it| &it.events);
        for event in events() {
            if let Effect::Block(BlockEffect::Allocated { addr, size }) = event.op.effect() {
                let largest = sizes.entry(addr).or_default();
                *largest = (*largest).max(size);
            }
        }
        let mut freed = BTreeMap::new();
        for event in events() {
            if let Effect::Block(BlockEffect::Freed { addr }) = event.op.effect() {
                let size = sizes.get(&addr).copied().unwrap_or(0);
                freed.insert(addr, addr.saturating_add(size));
            }
        }
        // A block may reach beyond the begin of the next one.
        let mut end = 0;
        for to in freed.values_mut() {
            end = end.max(*to);
            *to = end;
        }
        Freed(freed)
    }

    /// Whether an address may be in such memory. A negative answer is always right.
    fn contains(&self, addr: u64) -> bool {
        self.0.range(..=addr).next_back().is_some_and(|it| addr < *it.1)
    }
}

impl<'a> Builder<'a> {
    /// If `fixed`, a read has to see the same write as in the recorded run; otherwise any write of
    /// the same value.
    pub(crate) fn build(trace: &'a Trace, fixed: bool, cancel: &Cancel) -> Model<'a> {
        let mut builder = Builder {
            model: Model {
                trace,
                places: Vec::with_capacity(trace.len()),
                threads: vec![Vec::new(); trace.threads.len()],
                facets: Vec::new(),
                firsts: Vec::new(),
                reach: Reach::default(),
                cells: Cells::default(),
                sections: Vec::new(),
                locks: Vec::new(),
                conds: Vec::new(),
                wakes: Vec::new(),
                semaphores: Vec::new(),
                barriers: Vec::new(),
                tries: Vec::new(),
                onces: Vec::new(),
                // Handlers could also interrupt other events.
                damaged: trace.threads.iter().any(|it| it.role == Role::Handler),
            },
            facets: Vec::new(),
            edges: Edges::default(),
            locks: Numbers::default(),
            conds: Numbers::default(),
            semaphores: Numbers::default(),
            barriers: Numbers::default(),
            onces: Numbers::default(),
            mutexes: locks(trace),
            held: FxHashMap::default(),
            waits: FxHashMap::default(),
            signals: Vec::new(),
            arrived: FxHashMap::default(),
            counts: FxHashMap::default(),
            begun: FxHashMap::default(),
            memory: Vec::new(),
            heap: Vec::new(),
            given: FxHashMap::default(),
            freed: Freed::new(trace),
            handlers: Handlers::new(trace),
            last: FxHashMap::default(),
        };
        for event in cancel.items(trace.merged()) {
            builder.event(&event);
        }
        // Nothing can be proved from a part of the trace.
        builder.model.damaged |= cancel.is_cancelled();
        builder.finish(fixed)
    }

    fn event(&mut self, event: &Event) {
        let ids = &self.model.trace.threads;
        let thread = ids.binary_search_by_key(&event.id.thread, |it| it.id).unwrap_or(0);
        let node = self.model.len();
        let index = u32::try_from(event.id.index).unwrap_or(u32::MAX);
        self.model.threads[thread].push(node);
        let thread = u32::try_from(thread).unwrap_or(u32::MAX);
        self.model.places.push((thread, index));
        self.handler(node, event);
        self.effect(node, thread, event.op.effect());
        if let Some(object) = event.op.effect().used_object() {
            self.use_memory(node, thread, object);
        }
    }

    /// A handler that interrupts a thread stays between the same two events of that thread. Other
    /// orders are possible, so that nothing can be proved about them.
    fn handler(&mut self, node: Node, event: &Event) {
        let id = event.id.thread;
        for stream in self.handlers.of(id) {
            if let Op::Begin { .. } = event.op {
                self.edges.forks.push((node, stream));
            }
            if let Some(last) = self.last.get(&stream) {
                self.edges.all.push((*last, node));
            }
        }
        if let Op::HandlerBegin { .. } = event.op
            && let Some(last) = self.handlers.host(id).and_then(|it| self.last.get(&it))
        {
            self.edges.all.push((*last, node));
        }
        if !self.handlers.is_empty() {
            self.last.insert(id, node);
        }
    }

    fn facet(&mut self, node: Node, facet: Facet) {
        self.facets.push((node, facet));
    }

    fn effect(&mut self, node: Node, thread: u32, effect: Effect) {
        match effect {
            Effect::Access(access) => self.access(node, thread, &access),
            Effect::Thread(ThreadEffect::Fork(child)) => self.edges.forks.push((node, child)),
            Effect::Thread(ThreadEffect::Join(child)) => self.edges.joins.push((node, child)),
            Effect::Lock(effect) => self.lock(node, thread, effect),
            Effect::Condition(effect) => self.condition(node, thread, effect),
            Effect::Barrier(effect) => self.barrier(node, thread, effect),
            Effect::Semaphore(effect) => self.semaphore(node, thread, effect),
            Effect::Once(effect) => self.once(node, effect),
            Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                self.edges.announce(object, thread, node);
            }
            Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                self.edges.hear(object, node);
            }
            Effect::Channel(ChannelEffect::Send { channel, from, to }) => {
                self.edges.sends.send(channel, from, to, node);
            }
            Effect::Channel(ChannelEffect::Receive { channel, from, to, .. }) => {
                self.edges.receive((channel, from, to), node);
            }
            Effect::Block(BlockEffect::Allocated { addr, size }) => {
                let to = addr.saturating_add(size);
                self.given.insert(addr, (to, node));
                let (read, write) = (None, Some(Some(THERE)));
                self.heap.push(Touch { node, thread, from: addr, to, read, write });
            }
            Effect::Block(BlockEffect::Freed { addr }) => self.free(node, thread, addr),
            Effect::Object(effect) => self.object(node, thread, effect),
            Effect::None => {}
        }
    }

    fn lock(&mut self, node: Node, thread: u32, effect: LockEffect) {
        match effect {
            LockEffect::Acquire { lock, mode, .. } => {
                self.open_section(node, thread, lock, mode == LockMode::Read);
            }
            LockEffect::Failed { lock, mode, .. } => {
                let (lock, _) = entry(&mut self.locks, &mut self.model.locks, lock);
                self.facet(node, Facet::Denied { lock, shared: mode == LockMode::Read });
            }
            LockEffect::Release { lock, .. } => self.close_section(node, thread, lock),
        }
    }

    fn condition(&mut self, node: Node, thread: u32, effect: ConditionEffect) {
        match effect {
            ConditionEffect::Wait { .. } => {
                self.waits.insert(thread, node);
            }
            ConditionEffect::Wake { cond, lock, woken } => {
                self.wake(node, thread, cond, woken);
                self.open_section(node, thread, lock, false);
            }
            ConditionEffect::Signal { cond, all } => self.signal(node, cond, all),
        }
    }

    fn once(&mut self, node: Node, effect: OnceEffect) {
        match effect {
            OnceEffect::Begin { once } => {
                let (once, tries) = entry(&mut self.onces, &mut self.model.onces, once);
                let number = u32::try_from(self.model.tries.len()).unwrap_or(u32::MAX);
                tries.push(number);
                self.begun.insert(once, number);
                self.model.tries.push(Try { once, begin: node, end: NEVER, done: false });
                self.facet(node, Facet::Begin(number));
            }
            OnceEffect::End { once, done } => {
                let (once, _) = entry(&mut self.onces, &mut self.model.onces, once);
                let Some(number) = self.begun.remove(&once) else {
                    return self.facet(node, Facet::Impossible);
                };
                let it = &mut self.model.tries[number as usize];
                (it.end, it.done) = (node, done);
                self.facet(node, Facet::End(number));
            }
            OnceEffect::Done { once } => {
                let (once, _) = entry(&mut self.onces, &mut self.model.onces, once);
                self.facet(node, Facet::Done(once));
            }
        }
    }

    fn semaphore(&mut self, node: Node, thread: u32, effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Wait { semaphore, .. } if self.mutexes.contains(&semaphore) => {
                self.open_section(node, thread, semaphore, false);
            }
            SemaphoreEffect::Post { semaphore } if self.mutexes.contains(&semaphore) => {
                self.close_section(node, thread, semaphore);
            }
            SemaphoreEffect::Init { semaphore, value } => {
                let (number, it) =
                    entry(&mut self.semaphores, &mut self.model.semaphores, semaphore);
                it.first = i64::try_from(value).unwrap_or(i64::MAX);
                self.counts.insert(number, (0, true));
            }
            SemaphoreEffect::Post { semaphore } => {
                let (number, it) =
                    entry(&mut self.semaphores, &mut self.model.semaphores, semaphore);
                push(&mut it.ups, thread, node);
                self.counts.entry(number).or_default().0 += 1;
                self.facet(node, Facet::Up(number));
            }
            SemaphoreEffect::Wait { semaphore, .. } => {
                let (number, it) =
                    entry(&mut self.semaphores, &mut self.model.semaphores, semaphore);
                push(&mut it.downs, thread, node);
                let (count, known) = self.counts.entry(number).or_default();
                *count -= 1;
                if !*known {
                    it.first = it.first.max(-*count);
                }
                self.facet(node, Facet::Down(number));
            }
            SemaphoreEffect::Failed { semaphore } => {
                let number = entry(&mut self.semaphores, &mut self.model.semaphores, semaphore).0;
                self.facet(node, Facet::Dry(number));
            }
        }
    }

    fn barrier(&mut self, node: Node, thread: u32, effect: BarrierEffect) {
        match effect {
            BarrierEffect::Init { barrier, size } => {
                entry(&mut self.barriers, &mut self.model.barriers, barrier).1.size = size;
            }
            BarrierEffect::Arrive { barrier } => {
                let (number, it) = entry(&mut self.barriers, &mut self.model.barriers, barrier);
                push(&mut it.enters, thread, node);
                *self.arrived.entry(number).or_default() += 1;
                self.facet(node, Facet::Enter(number));
            }
            BarrierEffect::Leave { barrier } => {
                let (number, it) = entry(&mut self.barriers, &mut self.model.barriers, barrier);
                if it.size == 0 {
                    it.size = self.arrived.get(&number).copied().unwrap_or(0);
                }
                self.facet(node, Facet::Leave(number));
            }
        }
    }

    fn open_section(&mut self, node: Node, thread: u32, lock: u64, shared: bool) {
        let (lock, sections) = entry(&mut self.locks, &mut self.model.locks, lock);
        let number = u32::try_from(self.model.sections.len()).unwrap_or(u32::MAX);
        let section = Section { lock, thread, open: node, close: NEVER, shared };
        if let Some((held, depth)) = self.held.get_mut(&(lock, thread)) {
            *depth += 1;
            // An upgrade to exclusive mode needs a state without other readers.
            if !shared && self.model.sections[*held as usize].shared {
                push(sections, thread, number);
                self.model.sections.push(Section { close: node, ..section });
                self.facet(node, Facet::Open(number));
                self.facet(node, Facet::Close(number));
            }
            return;
        }
        push(sections, thread, number);
        self.held.insert((lock, thread), (number, 1));
        self.model.sections.push(section);
        self.facet(node, Facet::Open(number));
    }

    fn close_section(&mut self, node: Node, thread: u32, lock: u64) {
        let (lock, _) = entry(&mut self.locks, &mut self.model.locks, lock);
        let Some((number, depth)) = self.held.get_mut(&(lock, thread)) else {
            return self.facet(node, Facet::Impossible);
        };
        *depth -= 1;
        if *depth == 0 {
            let number = *number;
            self.held.remove(&(lock, thread));
            self.model.sections[number as usize].close = node;
            self.facet(node, Facet::Close(number));
        }
    }

    fn signal(&mut self, node: Node, cond: u64, all: bool) {
        let (cond, signals) = entry(&mut self.conds, &mut self.model.conds, cond);
        signals.push((node, all));
        self.signals.resize(self.model.conds.len(), Vec::new());
        self.signals[cond as usize].push((node, all));
        self.facet(node, Facet::Signal { cond, all });
    }

    fn wake(&mut self, node: Node, thread: u32, cond: u64, woken: WokenBy) {
        let Some(wait) = self.waits.remove(&thread) else {
            return self.facet(node, Facet::Impossible);
        };
        match woken {
            WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => return,
            WokenBy::Event(_) | WokenBy::OneOf(_) => {}
        }
        let (cond, _) = entry(&mut self.conds, &mut self.model.conds, cond);
        self.signals.resize(self.model.conds.len(), Vec::new());
        let open = &mut self.signals[cond as usize];
        let first = open.iter().position(|it| it.0 > wait);
        let signal =
            first.map_or(NEVER, |at| if open[at].1 { open[at].0 } else { open.remove(at).0 });
        let number = u32::try_from(self.model.wakes.len()).unwrap_or(u32::MAX);
        self.model.wakes.push(Wake { cond, wait, node, signal });
        self.facet(node, Facet::Wake(number));
    }

    fn access(&mut self, node: Node, thread: u32, access: &MemoryAccess) {
        let MemoryAccess { addr, size, read, write, .. } = *access;
        let to = addr.saturating_add(size.min(LONGEST));
        self.memory.push(Touch { node, thread, from: addr, to, read, write });
        self.use_memory(node, thread, addr);
    }

    /// An event needs memory that may be freed.
    fn use_memory(&mut self, node: Node, thread: u32, addr: u64) {
        if self.freed.contains(addr) {
            let (to, read) = (addr.saturating_add(1), Some(Some(THERE)));
            self.heap.push(Touch { node, thread, from: addr, to, read, write: None });
        }
    }

    /// A descriptor is a variable that each close changes and each use reads.
    fn object(&mut self, node: Node, thread: u32, effect: ObjectEffect) {
        let (object, read, write) = match effect {
            ObjectEffect::Use { object, .. } => (object, Some(None), None),
            ObjectEffect::Destroy { object, class: Object::Descriptor } => {
                (object, None, Some(None))
            }
            ObjectEffect::Init { .. } | ObjectEffect::Destroy { .. } => return,
        };
        let to = object.saturating_add(1);
        self.memory.push(Touch { node, thread, from: object, to, read, write });
    }

    fn free(&mut self, node: Node, thread: u32, addr: u64) {
        let Some((to, given)) = self.given.get(&addr).copied() else { return };
        self.edges.all.push((given, node));
        let (read, write) = (Some(Some(THERE)), Some(Some(GONE)));
        self.heap.push(Touch { node, thread, from: addr, to, read, write });
    }

    fn finish(mut self, fixed: bool) -> Model<'a> {
        let mut model = self.model;
        model.cells.memory(&self.memory, fixed, &mut self.facets);
        model.cells.heap(&self.heap, &mut self.facets);
        self.facets.sort_by_key(|it| it.0);
        model.firsts = vec![0; model.places.len() + 1];
        for (node, _) in &self.facets {
            model.firsts[*node as usize + 1] += 1;
        }
        for at in 0..model.places.len() {
            model.firsts[at + 1] += model.firsts[at];
        }
        model.facets = self.facets.into_iter().map(|it| it.1).collect();
        self.edges.connect(&mut model);
        model
    }
}
