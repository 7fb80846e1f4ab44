//! The clauses of a [`Solver`], and unit propagation: if all literals but one are false, that one
//! is true. Two literals of each clause are watched, which are not false if possible.

use super::solver::{Lit, NONE, Solver, both};

/// Where the literals of a clause are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    from: u32,
    to: u32,
}

/// A clause that is visited when a watched literal becomes false; and another literal of it: while
/// that is true, the clause needs no visit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    clause: u32,
    other: Lit,
}

impl Solver {
    pub(crate) fn attach(&mut self, lits: &[Lit]) -> u32 {
        let number = u32::try_from(self.clauses.len()).unwrap_or(NONE);
        let from = u32::try_from(self.lits.len()).unwrap_or(NONE);
        self.lits.extend(lits);
        let to = u32::try_from(self.lits.len()).unwrap_or(NONE);
        self.clauses.push(Clause { from, to });
        self.watches[both(lits[0])].push(Watch { clause: number, other: lits[1] });
        self.watches[both(lits[1])].push(Watch { clause: number, other: lits[0] });
        number
    }

    pub(crate) fn lits(&self, clause: u32) -> &[Lit] {
        let Clause { from, to } = self.clauses[clause as usize];
        &self.lits[from as usize..to as usize]
    }

    /// Propagates that a literal is false; returns the clause that cannot be true, if there is one.
    pub(crate) fn follow(&mut self, lit: Lit) -> Option<u32> {
        let mut watches = std::mem::take(&mut self.watches[both(lit)]);
        self.effort.spend(1 + watches.len() as u64 / 4);
        let (mut kept, mut next) = (0, 0);
        let mut conflict = None;
        while let Some(&watch) = watches.get(next) {
            next += 1;
            if conflict.is_some() || self.value(watch.other) == Some(true) {
                watches[kept] = watch;
                kept += 1;
                continue;
            }
            let Clause { from, to } = self.clauses[watch.clause as usize];
            let (from, to) = (from as usize, to as usize);
            if self.lits[from] == lit {
                self.lits.swap(from, from + 1);
            }
            let other = self.lits[from];
            let new = Watch { clause: watch.clause, other };
            let free = (from + 2..to).find(|it| self.value(self.lits[*it]) != Some(false));
            if self.value(other) != Some(true)
                && let Some(free) = free
            {
                self.lits.swap(from + 1, free);
                self.watches[both(self.lits[from + 1])].push(new);
                continue;
            }
            watches[kept] = new;
            kept += 1;
            match self.value(other) {
                Some(true) => {}
                Some(false) => conflict = Some(watch.clause),
                None => self.enqueue(other, watch.clause),
            }
        }
        watches.truncate(kept);
        self.watches[both(lit)] = watches;
        conflict
    }
}
