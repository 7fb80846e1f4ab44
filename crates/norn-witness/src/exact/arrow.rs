//! The meaning of literals: a literal says that one event comes before another.

use rustc_hash::FxHashMap;

use super::{
    model::Node,
    order::Order,
    solver::{Effort, Lit, Meaning, at},
};

/// The current order, and the literals about it.
#[derive(Debug)]
pub(crate) struct Arrows<'a> {
    pub(crate) order: Order<'a>,
    /// By variable: the edge that holds if it is true, and reversed if it is false; none if the
    /// variable is not about order.
    edges: Vec<Option<(Node, Node)>>,
    lits: FxHashMap<(Node, Node), Lit>,
    /// By event: the literals about it.
    about: FxHashMap<Node, Vec<Lit>>,
    effort: Effort,
}

impl<'a> Arrows<'a> {
    pub(crate) fn new(order: Order<'a>, effort: Effort) -> Self {
        let (lits, about) = (FxHashMap::default(), FxHashMap::default());
        Arrows { order, edges: Vec::new(), lits, about, effort }
    }

    /// The edge that a literal stands for, if it is about order.
    pub(crate) fn edge(&self, lit: Lit) -> Option<(Node, Node)> {
        let (from, to) = self.edges.get(at(lit)).copied().flatten()?;
        Some(if lit > 0 { (from, to) } else { (to, from) })
    }

    /// By variable: its edge.
    pub(crate) fn into_edges(self) -> Vec<Option<(Node, Node)>> {
        self.edges
    }

    /// The literal that one event comes before another. A new variable begins with its value in the
    /// current order.
    pub(crate) fn lit(
        &mut self,
        one: Node,
        other: Node,
        variable: impl FnOnce(bool) -> Lit,
    ) -> Lit {
        let (one, other) = (self.order.face(one), self.order.face(other));
        let edge = (one.min(other), one.max(other));
        let lit = *self.lits.entry(edge).or_insert_with(|| {
            let lit = variable(self.order.place(edge.0) < self.order.place(edge.1));
            self.edges.resize(at(lit), None);
            self.edges.push(Some(edge));
            self.about.entry(edge.0).or_default().push(lit);
            self.about.entry(edge.1).or_default().push(lit);
            lit
        });
        if one < other { lit } else { -lit }
    }
}

impl Meaning for Arrows<'_> {
    fn assert(&mut self, lit: Lit, changed: &mut Vec<Lit>) -> Result<(), Vec<Lit>> {
        let Some((from, to)) = self.edge(lit) else {
            changed.push(lit);
            return Ok(());
        };
        let before = self.order.visits;
        let result = self.order.add(from, to, lit);
        for node in self.order.moved() {
            let about = self.about.get(node).into_iter().flatten();
            changed.extend(about.map(|lit| match self.edges[at(*lit)] {
                Some((from, to)) if self.order.place(from) > self.order.place(to) => -lit,
                _ => *lit,
            }));
        }
        self.effort.spend(1 + self.order.visits - before + changed.len() as u64 / 8);
        result
    }

    fn mark(&self) -> usize {
        self.order.len()
    }

    fn back(&mut self, mark: usize) {
        self.order.truncate(mark);
    }

    fn distance(&self, lit: Lit) -> u32 {
        let distance = |(from, to)| self.order.place(from).abs_diff(self.order.place(to));
        self.edge(lit).map_or(0, distance)
    }
}
