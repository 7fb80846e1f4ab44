//! A query as text for other solvers, to compare with them.

use std::fmt::Write as _;

use super::{
    model::{Model, Node},
    query::join,
    solver::Lit,
};

/// The clauses that the solver had in the end.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) clauses: Vec<Vec<Lit>>,
    /// By variable: its edge.
    pub(crate) arrows: Vec<Option<(Node, Node)>>,
    /// The candidate's events, each before the next one.
    pub(crate) steps: Vec<Node>,
    /// Whether they have to be adjacent.
    pub(crate) adjacent: bool,
}

impl Transcript {
    /// The query in SMT-LIB, as difference logic: every event that matters is an integer. It has
    /// the clauses that were needed, and program order.
    pub(crate) fn smt(&self, model: &Model<'_>) -> String {
        let face = |node: Node| match self.steps.last() {
            Some(last) if self.adjacent && self.steps.contains(&node) => *last,
            _ => node,
        };
        let mut counts = vec![0; model.threads.len()];
        let ends = self.arrows.iter().flatten().flat_map(|it| [it.0, it.1]);
        for node in ends.chain(self.steps.iter().copied()) {
            join(model, &mut counts, node);
        }
        let mut text = String::from("(set-logic QF_IDL)\n");
        let mut edges = Vec::new();
        for (thread, count) in model.threads.iter().zip(&counts) {
            for node in &thread[..*count as usize] {
                if face(*node) == *node {
                    let _ = writeln!(text, "(declare-fun e{node} () Int)");
                }
                edges.extend(model.previous(*node).map(|it| (face(it), face(*node))));
                edges.extend(model.reach.sources(*node).iter().map(|it| (face(*it), face(*node))));
            }
        }
        if !self.adjacent {
            edges.extend(self.steps.windows(2).map(|it| (it[0], it[1])));
        }
        for (one, other) in edges.into_iter().filter(|it| it.0 != it.1) {
            let _ = writeln!(text, "(assert (< e{one} e{other}))");
        }
        for (at, arrow) in self.arrows.iter().enumerate() {
            if arrow.is_none() {
                let _ = writeln!(text, "(declare-fun b{} () Bool)", at + 1);
            }
        }
        for clause in &self.clauses {
            let parts: Vec<_> = clause.iter().map(|it| self.literal(*it)).collect();
            let _ = writeln!(text, "(assert (or false {}))", parts.join(" "));
        }
        text + "(check-sat)\n"
    }

    fn literal(&self, lit: Lit) -> String {
        let number = lit.unsigned_abs();
        match self.arrows.get(number as usize - 1).copied().flatten() {
            Some((one, other)) if lit > 0 => format!("(< e{one} e{other})"),
            Some((one, other)) => format!("(< e{other} e{one})"),
            None if lit > 0 => format!("b{number}"),
            None => format!("(not b{number})"),
        }
    }
}
