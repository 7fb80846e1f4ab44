//! The current order of the events of a window, changed as little as each new edge requires.
//!
//! After Pearce and Kelly (*A dynamic topological sort algorithm for directed acyclic graphs*,
//! 2006): where an edge goes against the order, only the events between its ends move. Edges that
//! always hold are not stored here but looked up in the [`Model`]. A cycle is explained by the
//! labels of its edges. Edges without a label are followed first, which keeps explanations short.

use std::collections::VecDeque;

use super::{
    model::{Model, NEVER, Node},
    solver::Lit,
};

/// An edge that always holds needs no label.
pub(crate) const ALWAYS: Lit = 0;

/// No edge.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Node,
    to: Node,
    label: Lit,
    /// The next one from and to the same nodes.
    next_out: u32,
    next_in: u32,
}

/// The current order of the events of a window.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    model: &'a Model<'a>,
    from: Node,
    to: Node,
    /// Events that have to be adjacent: their last one represents all of them.
    bundle: &'a [Node],
    /// By node: its place; by place: the node.
    places: Vec<u32>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    first_out: Vec<u32>,
    first_in: Vec<u32>,
    /// The search that saw a node last, and the edge by which it came there.
    seen: Vec<u32>,
    search: u32,
    parents: Vec<(Node, Lit)>,
    /// The number of events that searches have visited.
    pub(crate) visits: u64,
    /// The events that the last edge has moved.
    moved: Vec<Node>,
}

impl<'a> Order<'a> {
    /// The nodes of the window in an order that all edges of the model allow; of a bundle only
    /// the last.
    pub(crate) fn new(
        model: &'a Model<'a>,
        (from, to): (Node, Node),
        bundle: &'a [Node],
        nodes: Vec<Node>,
    ) -> Self {
        let len = (to - from) as usize;
        let mut places = vec![0; len];
        for (place, node) in (0..).zip(&nodes) {
            places[(node - from) as usize] = place;
        }
        Order {
            model,
            from,
            to,
            bundle,
            places,
            nodes,
            edges: Vec::new(),
            first_out: vec![NONE; len],
            first_in: vec![NONE; len],
            seen: vec![0; len],
            search: 0,
            parents: vec![(NEVER, ALWAYS); len],
            visits: 0,
            moved: Vec::new(),
        }
    }

    /// The node that represents a node.
    pub(crate) fn face(&self, node: Node) -> Node {
        match self.bundle.last() {
            Some(last) if self.bundle.contains(&node) => *last,
            _ => node,
        }
    }

    pub(crate) fn place(&self, node: Node) -> u32 {
        self.places[(self.face(node) - self.from) as usize]
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The events that the last edge has moved.
    pub(crate) fn moved(&self) -> &[Node] {
        &self.moved
    }

    /// The number of edges that were added.
    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Removes edges, the last ones first.
    pub(crate) fn truncate(&mut self, len: usize) {
        while self.edges.len() > len
            && let Some(edge) = self.edges.pop()
        {
            self.first_out[(edge.from - self.from) as usize] = edge.next_out;
            self.first_in[(edge.to - self.from) as usize] = edge.next_in;
        }
    }

    /// Adds an edge. If it closes a cycle, returns the labels on the cycle.
    pub(crate) fn add(&mut self, from: Node, to: Node, label: Lit) -> Result<(), Vec<Lit>> {
        self.moved.clear();
        let (from, to) = (self.face(from), self.face(to));
        if from == to {
            return Err(Vec::from_iter(Some(label).filter(|it| *it != ALWAYS)));
        }
        if self.place(from) > self.place(to) {
            self.move_before(from, to, label)?;
        }
        let at = u32::try_from(self.edges.len()).unwrap_or(NONE);
        let (out, into) = ((from - self.from) as usize, (to - self.from) as usize);
        let (next_out, next_in) = (self.first_out[out], self.first_in[into]);
        self.edges.push(Edge { from, to, label, next_out, next_in });
        (self.first_out[out], self.first_in[into]) = (at, at);
        Ok(())
    }

    /// Changes the order so that one node comes before the other.
    fn move_before(&mut self, one: Node, other: Node, label: Lit) -> Result<(), Vec<Lit>> {
        let (low, high) = (self.place(other), self.place(one));
        let mut later = self.later(other, one, high, label)?;
        let mut earlier = self.earlier(one, low);
        self.visits += (later.len() + earlier.len()) as u64;
        self.to_places(&mut later);
        self.to_places(&mut earlier);
        let free = merged(&later, &earlier);
        // The nodes are looked up before their places are given to others.
        let nodes: Vec<_> =
            earlier.into_iter().chain(later).map(|it| self.nodes[it as usize]).collect();
        for (node, place) in nodes.into_iter().zip(free) {
            self.places[(node - self.from) as usize] = place;
            self.nodes[place as usize] = node;
            self.moved.push(node);
        }
        Ok(())
    }

    /// Replaces nodes by their places, in order. Sorting numbers is several times as fast as sorting nodes
    /// by their places, and most of the time of a query is spent here.
    fn to_places(&self, nodes: &mut [Node]) {
        for it in nodes.iter_mut() {
            *it = self.places[(*it - self.from) as usize];
        }
        nodes.sort_unstable();
    }

    /// The nodes after a node, up to a place; or the path by which the end comes after it.
    fn later(
        &mut self,
        start: Node,
        end: Node,
        high: u32,
        label: Lit,
    ) -> Result<Vec<Node>, Vec<Lit>> {
        self.search += 1;
        let mut found = Vec::new();
        let mut open = VecDeque::from([start]);
        let mut next = Vec::new();
        self.seen[(start - self.from) as usize] = self.search;
        self.parents[(start - self.from) as usize] = (NEVER, ALWAYS);
        while let Some(node) = open.pop_front() {
            found.push(node);
            self.after(node, &mut next);
            for (to, edge) in next.drain(..) {
                let at = (to - self.from) as usize;
                if to == end {
                    self.visits += found.len() as u64;
                    return Err(self.explain(node, [label, edge]));
                }
                if self.places[at] <= high && self.seen[at] != self.search {
                    self.seen[at] = self.search;
                    self.parents[at] = (node, edge);
                    if edge == ALWAYS {
                        open.push_front(to);
                    } else {
                        open.push_back(to);
                    }
                }
            }
        }
        Ok(found)
    }

    fn explain(&self, mut node: Node, last: [Lit; 2]) -> Vec<Lit> {
        let mut labels = Vec::from(last);
        while node != NEVER {
            let (parent, label) = self.parents[(node - self.from) as usize];
            labels.push(label);
            node = parent;
        }
        labels.retain(|it| *it != ALWAYS);
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// The nodes before a node, down to a place.
    fn earlier(&mut self, start: Node, low: u32) -> Vec<Node> {
        self.search += 1;
        let mut found = Vec::new();
        let mut open = vec![start];
        let mut next = Vec::new();
        self.seen[(start - self.from) as usize] = self.search;
        while let Some(node) = open.pop() {
            found.push(node);
            self.ahead(node, &mut next);
            for from in next.drain(..) {
                let at = (from - self.from) as usize;
                if self.places[at] >= low && self.seen[at] != self.search {
                    self.seen[at] = self.search;
                    open.push(from);
                }
            }
        }
        found
    }

    fn members(&self, node: Node) -> &[Node] {
        if self.bundle.last() == Some(&node) { self.bundle } else { &[] }
    }

    /// The successors of a node in the window.
    fn after(&self, node: Node, into: &mut Vec<(Node, Lit)>) {
        let mut add = |it: Node| {
            let face = self.face(it);
            if it < self.to && face != node {
                into.push((face, ALWAYS));
            }
        };
        for member in self.members(node).iter().chain([&node]) {
            self.model.next(*member).into_iter().for_each(&mut add);
            self.model.reach.targets(*member).iter().copied().for_each(&mut add);
        }
        let mut at = self.first_out[(node - self.from) as usize];
        while at != NONE {
            let edge = &self.edges[at as usize];
            into.push((edge.to, edge.label));
            at = edge.next_out;
        }
    }

    /// The predecessors of a node in the window.
    fn ahead(&self, node: Node, into: &mut Vec<Node>) {
        let mut add = |it: Node| {
            let face = self.face(it);
            if it >= self.from && face != node {
                into.push(face);
            }
        };
        for member in self.members(node).iter().chain([&node]) {
            self.model.previous(*member).into_iter().for_each(&mut add);
            self.model.reach.sources(*member).iter().copied().for_each(&mut add);
        }
        let mut at = self.first_in[(node - self.from) as usize];
        while at != NONE {
            let edge = &self.edges[at as usize];
            into.push(edge.from);
            at = edge.next_in;
        }
    }
}

/// The elements of two sorted lists, sorted.
fn merged(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let mut rest = other;
    for it in one {
        let before = rest.iter().take_while(|next| *next < it).count();
        all.extend_from_slice(&rest[..before]);
        rest = &rest[before..];
        all.push(*it);
    }
    all.extend_from_slice(rest);
    all
}
