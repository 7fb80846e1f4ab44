//! The rules of semaphores and barriers, which count.
//!
//! If a count is too low, some event that increments it has to come earlier, or some event that
//! decrements it later. The events of a thread are ordered, so one literal per thread is enough;
//! and where several increments are missing, the literal can name an event further away.

use rustc_hash::FxHashMap;

use super::{
    model::{ByThread, Node},
    query::{Known, Query},
    walk::WalkState,
};

/// The arrivals at a barrier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    arrived: u64,
    /// By thread: the event of its arrival, and the round.
    rounds: FxHashMap<u32, (Node, u64)>,
}

impl Query<'_> {
    /// By thread: its events in the window, and how many of them come before `node` in the current
    /// order.
    fn split<'s>(
        &'s self,
        lists: &'s ByThread,
        node: Node,
        counts: &'s [u32],
    ) -> impl Iterator<Item = (&'s [Node], usize)> + 's {
        let place = self.place(node);
        lists.iter().map(move |(_, list)| {
            let from = list.partition_point(|it| *it < self.from);
            let to = list.partition_point(|it| *it < self.to);
            let list = &list[from..to];
            let is_before =
                |it: &Node| self.is_inside(counts, *it) && (*it == node || self.place(*it) < place);
            (list, list.partition_point(is_before))
        })
    }

    /// Literals of which one has to be true: an event that comes later now comes before `node`.
    /// Since `missing` events have to move, the literals may name events that are further away.
    fn earlier(
        &mut self,
        lists: &ByThread,
        node: Node,
        missing: u64,
        counts: &[u32],
    ) -> Vec<Known> {
        let split: Vec<_> =
            self.split(lists, node, counts).map(|it| (it.0.to_vec(), it.1)).collect();
        let mut spare = usize::try_from(missing).unwrap_or(usize::MAX).saturating_sub(1);
        let mut parts = Vec::new();
        for (list, count) in split {
            let skipped = spare.min(list.len() - count);
            spare -= skipped;
            if let Some(next) = list.get(count + skipped) {
                parts.push(self.precedes(*next, node));
            }
        }
        parts
    }

    /// Literals of which one has to be true: an event that comes earlier now comes after `node`.
    fn later(&mut self, lists: &ByThread, node: Node, counts: &[u32]) -> Vec<Known> {
        let split = self.split(lists, node, counts);
        let last: Vec<_> = split.filter_map(|it| it.1.checked_sub(1).map(|at| it.0[at])).collect();
        last.into_iter().filter(|it| *it != node).map(|it| self.precedes(node, it)).collect()
    }

    /// The value of a semaphore at the start of the window.
    fn first(&self, semaphore: u32) -> i64 {
        let it = &self.model.semaphores[semaphore as usize];
        let before = |lists: &ByThread| {
            let count = |list: &Vec<Node>| list.partition_point(|it| *it < self.from);
            lists.iter().map(|it| count(&it.1)).sum::<usize>().cast_signed() as i64
        };
        it.first + before(&it.ups) - before(&it.downs)
    }

    pub(crate) fn count<'s>(&self, semaphore: u32, state: &'s mut WalkState) -> &'s mut i64 {
        state.counts.entry(semaphore).or_insert_with(|| self.first(semaphore))
    }

    pub(crate) fn down(
        &mut self,
        node: Node,
        semaphore: u32,
        counts: &[u32],
        state: &mut WalkState,
    ) {
        let count = self.count(semaphore, state);
        *count -= 1;
        if *count < 0 {
            let missing = count.unsigned_abs();
            state.broken += 1;
            let it = &self.model.semaphores[semaphore as usize];
            let mut parts = self.earlier(&it.ups, node, missing, counts);
            parts.extend(self.later(&it.downs, node, counts));
            parts.push(self.is_out(node));
            self.clause(&parts);
        }
    }

    /// A semaphore has to be zero for an attempt to fail, and is not.
    pub(crate) fn dry(&mut self, node: Node, semaphore: u32, counts: &[u32]) {
        let it = &self.model.semaphores[semaphore as usize];
        let mut parts = self.earlier(&it.downs, node, 1, counts);
        parts.extend(self.later(&it.ups, node, counts));
        parts.push(self.is_free(node));
        self.clause(&parts);
    }

    fn size(&self, barrier: u32) -> u64 {
        self.model.barriers[barrier as usize].size.max(1)
    }

    /// The arrivals at the start of the window.
    fn rounds_now<'s>(&self, barrier: u32, state: &'s mut WalkState) -> &'s mut Rounds {
        state.rounds.entry(barrier).or_insert_with(|| {
            let enters = &self.model.barriers[barrier as usize].enters;
            let mut all: Vec<_> = enters
                .iter()
                .flat_map(|(thread, list)| list.iter().map(move |it| (*it, *thread)))
                .filter(|it| it.0 < self.from)
                .collect();
            all.sort_unstable();
            let size = self.size(barrier);
            let rounds = (0..).zip(&all).map(|(at, (node, thread))| (*thread, (*node, at / size)));
            Rounds { arrived: all.len() as u64, rounds: rounds.collect() }
        })
    }

    pub(crate) fn enter(&mut self, node: Node, barrier: u32, state: &mut WalkState) {
        let (size, thread) = (self.size(barrier), self.model.thread(node));
        let it = self.rounds_now(barrier, state);
        it.rounds.insert(thread, (node, it.arrived / size));
        it.arrived += 1;
    }

    pub(crate) fn leave(
        &mut self,
        node: Node,
        barrier: u32,
        counts: &[u32],
        state: &mut WalkState,
    ) {
        let (size, thread) = (self.size(barrier), self.model.thread(node));
        let it = self.rounds_now(barrier, state);
        let arrived = it.arrived;
        let mut parts = match it.rounds.remove(&thread) {
            Some((_, round)) if arrived >= (round + 1) * size => return,
            Some((enter, round)) => {
                let enters = &self.model.barriers[barrier as usize].enters;
                let mut parts = self.earlier(enters, node, (round + 1) * size - arrived, counts);
                if enter >= self.from {
                    parts.extend(self.later(enters, enter, counts));
                }
                parts
            }
            None => Vec::new(),
        };
        state.broken += 1;
        parts.push(self.is_out(node));
        self.clause(&parts);
    }
}
