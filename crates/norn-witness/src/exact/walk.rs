//! Walks through an order and adds clauses for the rules that it breaks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    count::Rounds,
    model::{Facet, Node},
    query::Query,
};

/// The state of the program at a point of the order.
#[derive(Clone, Default)]
pub(crate) struct WalkState {
    /// By cell: the last write, by its number from 1; 0 if it was before the window.
    writes: Vec<u32>,
    /// By lock: sections that are open.
    pub(crate) open: FxHashMap<u32, Vec<u32>>,
    /// By condition: signals, whether they wake all; without those that have ended a wait.
    pub(crate) signals: FxHashMap<u32, Vec<(Node, bool)>>,
    /// By condition: waits that were ended by a signal of this order.
    pub(crate) woken: FxHashMap<u32, Vec<u32>>,
    /// By semaphore: its value.
    pub(crate) counts: FxHashMap<u32, i64>,
    pub(crate) rounds: FxHashMap<u32, Rounds>,
    /// By initialisation: the attempts that are in progress or done.
    pub(crate) tries: FxHashMap<u32, Vec<u32>>,
    /// Initialisations that are done.
    pub(crate) done: FxHashSet<u32>,
    /// The number of broken rules.
    pub(crate) broken: usize,
    /// Whether some broken rule does not count because its thread does not continue.
    excused: bool,
}

/// The state at which an order departs from the recorded one, and the number of events before it.
/// Most orders depart late, and not much earlier than the previous order.
pub(crate) type Fork = (usize, WalkState);

impl Query<'_> {
    /// Adds clauses for the broken rules; returns how many there are.
    pub(crate) fn walk(&mut self, witness: &[Node], counts: &[u32]) -> usize {
        let as_recorded = witness.iter().zip(self.from..).take_while(|it| *it.0 == it.1).count();
        let fork = self.fork.take().filter(|it| it.0 <= as_recorded);
        let (known, mut state) = fork.unwrap_or_else(|| {
            let writes = vec![0; self.model.cells.all.len()];
            (0, WalkState { writes, ..WalkState::default() })
        });
        self.walk_events(&witness[known..as_recorded], counts, &mut state);
        if state.broken == 0 && !state.excused {
            self.fork = Some((as_recorded, state.clone()));
        }
        self.walk_events(&witness[as_recorded..], counts, &mut state);
        self.effort.spend((witness.len() - known) as u64 / 4);
        state.broken
    }

    fn walk_events(&mut self, events: &[Node], counts: &[u32], state: &mut WalkState) {
        for node in events {
            // An order with a broken rule is no solution. The next search ends without effort.
            if state.broken > 0 && self.effort.is_spent() {
                return;
            }
            for facet in self.model.facets(*node) {
                self.facet(*node, *facet, counts, state);
            }
        }
    }

    /// Whether the values that an event reads matter.
    fn matters(&self, node: Node, counts: &[u32], state: &mut WalkState) -> bool {
        let last = self.is_last(node, counts);
        state.excused |= last;
        state.broken += usize::from(!last);
        !last
    }

    fn facet(&mut self, node: Node, facet: Facet, counts: &[u32], state: &mut WalkState) {
        match facet {
            Facet::Read(number) => {
                if !self.sees(number, state) && self.matters(node, counts, state) {
                    self.correct_read(number, counts);
                }
            }
            Facet::Write { cell, at } => {
                state.writes[cell as usize] = at + 1;
            }
            Facet::Open(section) => self.open(section, state),
            Facet::Close(section) => self.close(section, state),
            Facet::Denied { lock, shared } => {
                if !self.is_taken(node, lock, shared, state) && self.matters(node, counts, state) {
                    self.deny(node, lock, shared);
                }
            }
            Facet::Wake(wake) => self.wake(wake, state),
            Facet::Signal { cond, all } => {
                state.signals.entry(cond).or_default().push((node, all));
            }
            Facet::Up(semaphore) => *self.count(semaphore, state) += 1,
            Facet::Down(semaphore) => self.down(node, semaphore, counts, state),
            Facet::Dry(semaphore) => {
                if *self.count(semaphore, state) > 0 && self.matters(node, counts, state) {
                    self.dry(node, semaphore, counts);
                }
            }
            Facet::Enter(barrier) => self.enter(node, barrier, state),
            Facet::Leave(barrier) => self.leave(node, barrier, counts, state),
            Facet::Begin(number) => self.begin(number, state),
            Facet::End(number) => self.end(number, state),
            Facet::Done(once) => self.done(node, once, state),
            Facet::Impossible => {
                state.broken += 1;
                let out = self.is_out(node);
                self.clause(&[out]);
            }
        }
    }

    fn sees(&self, number: u32, state: &WalkState) -> bool {
        let read = &self.model.cells.reads[number as usize];
        let cell = &self.model.cells.all[read.cell as usize];
        let last = match state.writes[read.cell as usize].checked_sub(1) {
            Some(at) => cell.writes.get(at as usize),
            None => cell.writes[..cell.writes.partition_point(|it| it.node < self.from)].last(),
        };
        match last {
            Some(write) => read.accepts(write.node, write.value),
            None => read.accepts(super::model::NEVER, cell.first),
        }
    }
}
