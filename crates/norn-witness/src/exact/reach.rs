//! The happens-before relation that holds in every order: program order, and edges between threads.
//!
//! It is stored as vector clocks: for an event, how many events of each thread come before it. Only
//! events with an edge from another thread have a clock of their own; the others share the clock of
//! the last such event of their thread.

use super::model::Node;

/// The happens-before relation that holds in every order.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// Edges between threads, by source and by target.
    out: Lists,
    into: Lists,
    /// By node: the row of its clock, from 1; 0 if no event of another thread comes before it.
    row: Vec<u32>,
    clocks: Vec<u32>,
    threads: usize,
}

/// Lists of nodes, by node.
#[derive(Debug, Default)]
struct Lists {
    firsts: Vec<u32>,
    all: Vec<Node>,
}

impl Lists {
    fn new(len: usize, pairs: impl Iterator<Item = (Node, Node)> + Clone) -> Self {
        let mut firsts = vec![0; len + 1];
        for (from, _) in pairs.clone() {
            firsts[from as usize + 1] += 1;
        }
        for at in 0..len {
            firsts[at + 1] += firsts[at];
        }
        let mut next = firsts.clone();
        let mut all = vec![0; firsts[len] as usize];
        for (from, to) in pairs {
            let at = &mut next[from as usize];
            all[*at as usize] = to;
            *at += 1;
        }
        Lists { firsts, all }
    }

    fn of(&self, node: Node) -> &[Node] {
        let at = node as usize;
        &self.all[self.firsts[at] as usize..self.firsts[at + 1] as usize]
    }
}

impl Reach {
    /// Edges must go from earlier to later nodes.
    pub(crate) fn new(places: &[(u32, u32)], threads: usize, edges: &[(Node, Node)]) -> Self {
        let out = Lists::new(places.len(), edges.iter().copied());
        let into = Lists::new(places.len(), edges.iter().map(|it| (it.1, it.0)));
        let row = vec![0; places.len()];
        let mut reach = Reach { out, into, row, clocks: Vec::new(), threads };
        let mut last = vec![0; threads];
        for (at, (thread, _)) in places.iter().enumerate() {
            let last = &mut last[*thread as usize];
            let node = u32::try_from(at).unwrap_or(u32::MAX);
            if !reach.into.of(node).is_empty() {
                *last = reach.join(places, node, *last);
            }
            reach.row[at] = *last;
        }
        reach
    }

    /// A new row: the previous one of the thread, joined with those of the edges' sources.
    fn join(&mut self, places: &[(u32, u32)], node: Node, last: u32) -> u32 {
        let mut clock = vec![0; self.threads];
        let mut add = |row: u32, clocks: &[u32]| {
            if let Some(row) = (row as usize).checked_sub(1) {
                let theirs = &clocks[row * self.threads..(row + 1) * self.threads];
                clock.iter_mut().zip(theirs).for_each(|(ours, it)| *ours = (*ours).max(*it));
            }
        };
        add(last, &self.clocks);
        for before in self.into.of(node) {
            add(self.row[*before as usize], &self.clocks);
        }
        for before in self.into.of(node) {
            let (thread, index) = places[*before as usize];
            let ours = &mut clock[thread as usize];
            *ours = (*ours).max(index + 1);
        }
        self.clocks.extend(clock);
        u32::try_from(self.clocks.len() / self.threads).unwrap_or(u32::MAX)
    }

    /// How many events of a thread come before this one in every order, itself included.
    pub(crate) fn count(&self, places: &[(u32, u32)], node: Node, thread: u32) -> u32 {
        let (own, index) = places[node as usize];
        if own == thread {
            return index + 1;
        }
        match (self.row[node as usize] as usize).checked_sub(1) {
            Some(row) => self.clocks[row * self.threads + thread as usize],
            None => 0,
        }
    }

    /// Edges from a node to other threads.
    pub(crate) fn targets(&self, node: Node) -> &[Node] {
        self.out.of(node)
    }

    /// Nodes of other threads with an edge to this one.
    pub(crate) fn sources(&self, node: Node) -> &[Node] {
        self.into.of(node)
    }
}
