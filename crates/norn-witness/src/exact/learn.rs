//! Conflict analysis of the [`Solver`]: derives a learned clause that would have prevented the
//! conflict, or, if no decision can be undone, the assumptions that it follows from.

use super::solver::{Lit, Meaning, NONE, Solver, at};

impl Solver {
    /// Backtracks to the level at which the learned clause propagates a literal.
    pub(crate) fn learn<M: Meaning>(&mut self, conflict: Vec<Lit>, meaning: &mut M) {
        let (mut learned, first) = self.analyse(conflict);
        self.effort.spend(1 + learned.len() as u64);
        // The second watched literal is the one of the highest level.
        learned.sort_unstable_by_key(|it| std::cmp::Reverse((self.variables[at(*it)].level, *it)));
        let level = learned.first().map_or(0, |it| self.variables[at(*it)].level);
        self.back(level, meaning);
        learned.insert(0, first);
        let reason = if learned.len() > 1 { self.attach(&learned) } else { NONE };
        self.enqueue(first, reason);
    }

    /// The clause of the first unique implication point: it has one literal of the current level.
    fn analyse(&mut self, conflict: Vec<Lit>) -> (Vec<Lit>, Lit) {
        let mut learned = Vec::new();
        let mut marked = Vec::new();
        let (mut next, mut open) = (self.trail.len(), 0);
        let mut reasons = conflict;
        let first = loop {
            for lit in reasons.drain(..) {
                let it = &mut self.variables[at(lit)];
                if it.seen || it.level == 0 {
                    continue;
                }
                it.seen = true;
                marked.push(lit);
                if it.level as usize == self.levels.len() {
                    open += 1;
                } else {
                    learned.push(lit);
                }
            }
            loop {
                next -= 1;
                if self.variables[at(self.trail[next])].seen {
                    break;
                }
            }
            let lit = self.trail[next];
            open -= 1;
            if open == 0 {
                break -lit;
            }
            let reason = self.variables[at(lit)].reason;
            reasons.extend(self.lits(reason).iter().filter(|it| **it != lit));
        };
        learned.retain(|it| !self.is_implied(*it));
        for lit in marked {
            self.variables[at(lit)].seen = false;
        }
        (learned, first)
    }

    /// Whether a literal is implied by others of the clause and can be left out.
    fn is_implied(&self, lit: Lit) -> bool {
        let reason = self.variables[at(lit)].reason;
        let known = |it: &Lit| {
            let it = &self.variables[at(*it)];
            it.seen || it.level == 0
        };
        reason != NONE && self.lits(reason).iter().all(known)
    }

    /// Finds the assumptions that a conflict follows from.
    pub(crate) fn find_assumptions(&mut self, conflict: Vec<Lit>) {
        let from = self.levels.first().map_or(self.trail.len(), |it| it.0);
        let mut reasons = conflict;
        for next in (from..self.trail.len()).rev() {
            for lit in reasons.drain(..) {
                let it = &mut self.variables[at(lit)];
                it.seen = it.level > 0;
            }
            let lit = self.trail[next];
            let it = &mut self.variables[at(lit)];
            if std::mem::take(&mut it.seen) {
                match it.reason {
                    NONE => drop(self.responsible.insert(lit)),
                    reason => reasons.extend(self.lits(reason).iter().filter(|it| **it != lit)),
                }
            }
        }
    }
}
