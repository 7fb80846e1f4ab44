//! What a [`Solver`] learns from a conflict: a clause that would have prevented it, and, if there is
//! nothing to go back to, which assumptions are to blame.

use super::solver::{Lit, Meaning, NONE, Solver, at};

impl Solver {
    /// Goes back so far that a new clause, which follows from a conflict, says something.
    pub(crate) fn learn<M: Meaning>(&mut self, conflict: Vec<Lit>, meaning: &mut M) {
        let (mut learned, first) = self.analyse(conflict);
        self.effort.spend(1 + learned.len() as u64);
        // The latest of the others is watched.
        learned.sort_unstable_by_key(|it| std::cmp::Reverse((self.variables[at(*it)].level, *it)));
        let level = learned.first().map_or(0, |it| self.variables[at(*it)].level);
        self.back(level, meaning);
        learned.insert(0, first);
        let reason = if learned.len() > 1 { self.attach(&learned) } else { NONE };
        self.enqueue(first, reason);
    }

    /// A clause with only one literal of the current level, which is the second result.
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

    /// Whether a literal follows from others that were seen.
    fn is_implied(&self, lit: Lit) -> bool {
        let reason = self.variables[at(lit)].reason;
        let known = |it: &Lit| {
            let it = &self.variables[at(*it)];
            it.seen || it.level == 0
        };
        reason != NONE && self.lits(reason).iter().all(known)
    }

    /// Finds the assumptions that a conflict comes from.
    pub(crate) fn blame(&mut self, conflict: Vec<Lit>) {
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
                    NONE => drop(self.blamed.insert(lit)),
                    reason => reasons.extend(self.lits(reason).iter().filter(|it| **it != lit)),
                }
            }
        }
    }
}
