//! The rule of a data race whose accesses are not adjacent: happens-before does not order them.
//!
//! An order in which it does has a path from the first access to the second: program order, and edges
//! from releases to acquires. The clause says that some edge of the path is missing: the acquire comes
//! before the release, or, for an atomic variable, another store ends the release sequence in between.

use norn_model::{
    AnnotationEffect, AtomicOp, BarrierEffect, ChannelEffect, ConditionEffect, Effect, LockEffect,
    LockMode, OnceEffect, Op, SemaphoreEffect, ThreadEffect,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    model::{Model, Node},
    query::{Known, Query},
};

/// How a thread learns of the first access.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Node,
    to: Node,
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The creation or the end of a thread: holds in every order.
    Thread,
    /// A lock, or another object: holds if the acquire comes after the release.
    Object,
    /// An atomic variable: holds if no other store comes between the write and the read.
    Atomic(u64),
}

impl Query<'_> {
    /// Adds a clause if the first event of the candidate happens before its last one in this order;
    /// returns whether it
    /// has added one.
    pub(crate) fn unorder(&mut self, witness: &[Node]) -> bool {
        let Some((&first, &last)) = self.steps().first().zip(self.steps().last()) else {
            return false;
        };
        let order = (0..self.from).chain(witness.iter().copied());
        let Some(path) = Knowledge::new(self.model, first).path(order, last) else { return false };
        self.effort.spend(witness.len() as u64 / 4);
        let mut parts = Vec::new();
        for Edge { from, to, by } in path {
            if by != By::Thread {
                parts.push(self.precedes(to, from));
            }
            if let By::Atomic(addr) = by {
                self.interruptions((from, to), addr, &mut parts);
            }
        }
        self.clause(&parts)
    }

    /// The stores that can end a release sequence between its head and a read.
    fn interruptions(&mut self, (head, read): (Node, Node), addr: u64, parts: &mut Vec<Known>) {
        for node in self.from..self.to {
            if node == head || !is_store(self.model, node, addr) {
                continue;
            }
            let lit = self.solver.variable(false);
            let after = self.precedes(head, node);
            self.clause(&[Known::If(-lit), after]);
            let before = self.precedes(node, read);
            self.clause(&[Known::If(-lit), before]);
            parts.push(Known::If(lit));
        }
    }
}

fn op(model: &Model<'_>, node: Node) -> Option<Op> {
    model.trace.event(model.id(node)).map(|it| it.op)
}

/// Whether an event is an atomic store, and no read-modify-write, of a variable.
fn is_store(model: &Model<'_>, node: Node, addr: u64) -> bool {
    let is = |it| matches!(it, Op::Atomic { addr: at, op: AtomicOp::Store(_), .. } if at == addr);
    op(model, node).is_some_and(is)
}

/// Where it is known that the first access has happened, and through which event it came there.
struct Knowledge<'a> {
    model: &'a Model<'a>,
    first: Node,
    /// By thread, counted from 0: how it learnt; none for the thread of the first access.
    threads: FxHashMap<u32, Option<Edge>>,
    /// By lock: the release by an exclusive holder, and by a reader.
    exclusive: FxHashMap<u64, Node>,
    shared: FxHashMap<u64, Node>,
    reading: FxHashSet<(u32, u64)>,
    /// By condition, semaphore, initialisation, annotated object, barrier and channel, whose number is
    /// inverted: what announced it.
    objects: FxHashMap<u64, Node>,
    /// By address: the head of the release sequence that the current value belongs to.
    heads: FxHashMap<u64, Node>,
    /// Threads with a releasing fence; by thread, the first read of such a value that did not acquire.
    fenced: FxHashSet<u32>,
    pending: FxHashMap<u32, Edge>,
}

impl<'a> Knowledge<'a> {
    fn new(model: &'a Model<'a>, first: Node) -> Self {
        Knowledge {
            model,
            first,
            threads: FxHashMap::default(),
            exclusive: FxHashMap::default(),
            shared: FxHashMap::default(),
            reading: FxHashSet::default(),
            objects: FxHashMap::default(),
            heads: FxHashMap::default(),
            fenced: FxHashSet::default(),
            pending: FxHashMap::default(),
        }
    }

    /// The edges by which the first access happens before the last event of an order.
    fn path(mut self, order: impl Iterator<Item = Node>, last: Node) -> Option<Vec<Edge>> {
        for node in order {
            if node == self.first {
                self.threads.insert(self.model.thread(node), None);
            }
            if let Some(op) = op(self.model, node) {
                self.step(node, &op);
            }
        }
        let mut path = Vec::new();
        let mut learnt = *self.threads.get(&self.model.thread(last))?;
        while let Some(edge) = learnt {
            path.push(edge);
            learnt = *self.threads.get(&self.model.thread(edge.from))?;
        }
        Some(path)
    }

    fn knows(&self, node: Node) -> bool {
        self.threads.contains_key(&self.model.thread(node))
    }

    fn learn(&mut self, thread: u32, edge: Edge) {
        self.threads.entry(thread).or_insert(Some(edge));
    }

    fn step(&mut self, node: Node, op: &Op) {
        let effect = op.effect();
        if let Some(effect) = effect.lock() {
            self.lock(node, effect);
        }
        match effect {
            Effect::Access(_) | Effect::None => self.atomic(node, op),
            Effect::Thread(effect) => self.thread(node, effect),
            Effect::Condition(ConditionEffect::Signal { cond: object, .. })
            | Effect::Semaphore(SemaphoreEffect::Post { semaphore: object })
            | Effect::Once(OnceEffect::End { once: object, .. })
            | Effect::Barrier(BarrierEffect::Arrive { barrier: object })
            | Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                if self.knows(node) {
                    self.objects.entry(object).or_insert(node);
                }
            }
            Effect::Condition(ConditionEffect::Wake { cond: object, .. })
            | Effect::Semaphore(SemaphoreEffect::Wait { semaphore: object, .. })
            | Effect::Once(
                OnceEffect::Begin { once: object } | OnceEffect::Done { once: object },
            )
            | Effect::Barrier(BarrierEffect::Leave { barrier: object })
            | Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                self.hear(node, self.objects.get(&object).copied());
            }
            Effect::Channel(ChannelEffect::Send { channel, .. }) => {
                if self.knows(node) {
                    self.objects.entry(!channel).or_insert(node);
                }
            }
            Effect::Channel(ChannelEffect::Receive { channel, .. }) => {
                self.hear(node, self.objects.get(&!channel).copied());
            }
            Effect::Condition(ConditionEffect::Wait { .. })
            | Effect::Semaphore(SemaphoreEffect::Init { .. } | SemaphoreEffect::Failed { .. })
            | Effect::Barrier(BarrierEffect::Init { .. })
            | Effect::Lock(_)
            | Effect::Block(_)
            | Effect::Object(_) => {}
        }
    }

    fn hear(&mut self, to: Node, from: Option<Node>) {
        if let Some(from) = from {
            self.learn(self.model.thread(to), Edge { from, to, by: By::Object });
        }
    }

    fn thread(&mut self, node: Node, effect: ThreadEffect) {
        let number = |id| self.model.trace.threads.binary_search_by_key(&id, |it| it.id).ok();
        let number = |id| number(id).and_then(|it| u32::try_from(it).ok());
        match effect {
            ThreadEffect::Fork(child) => {
                if let Some(child) = number(child).filter(|_| self.knows(node)) {
                    self.learn(child, Edge { from: node, to: node, by: By::Thread });
                }
            }
            ThreadEffect::Join(child) => {
                let last = number(child).and_then(|it| self.model.threads[it as usize].last());
                if let Some(&from) = last.filter(|it| self.knows(**it)) {
                    self.learn(self.model.thread(node), Edge { from, to: node, by: By::Thread });
                }
            }
        }
    }

    fn lock(&mut self, node: Node, effect: LockEffect) {
        let thread = self.model.thread(node);
        match effect {
            LockEffect::Acquire { lock, mode, .. } => {
                let reads = mode == LockMode::Read;
                if reads {
                    self.reading.insert((thread, lock));
                } else {
                    self.reading.remove(&(thread, lock));
                }
                let readers = self.shared.get(&lock).filter(|_| !reads);
                self.hear(node, self.exclusive.get(&lock).or(readers).copied());
            }
            LockEffect::Release { lock, .. } => {
                let reads = self.reading.contains(&(thread, lock));
                if self.knows(node) {
                    let released = if reads { &mut self.shared } else { &mut self.exclusive };
                    released.entry(lock).or_insert(node);
                }
            }
            LockEffect::Failed { .. } => {}
        }
    }

    /// Atomic operations and fences, whose memory order no effect has.
    fn atomic(&mut self, node: Node, op: &Op) {
        let thread = self.model.thread(node);
        if let Op::Fence(ordering) = *op {
            if let Some(edge) = self.pending.get(&thread).filter(|_| ordering.acquires()) {
                self.learn(thread, *edge);
            }
            if ordering.releases() && self.knows(node) {
                self.fenced.insert(thread);
            }
        }
        let Op::Atomic { addr, ordering, op, .. } = *op else { return };
        let head = self.heads.get(&addr).copied();
        if let Some(from) = head.filter(|_| op.reads()) {
            let edge = Edge { from, to: node, by: By::Atomic(addr) };
            if ordering.acquires() {
                self.learn(thread, edge);
            } else {
                self.pending.entry(thread).or_insert(edge);
            }
        }
        if op.writes() {
            let released = ordering.releases() && self.knows(node) || self.fenced.contains(&thread);
            match head.filter(|_| op.reads()).or(released.then_some(node)) {
                Some(head) => self.heads.insert(addr, head),
                None => self.heads.remove(&addr),
            };
        }
    }
}
