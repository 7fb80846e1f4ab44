//! The rule of condition variables: a signal ends a wait if it comes after the wait began and
//! before it returned. A signal ends at most one wait, a broadcast all. Which signal ends which
//! wait is free.

use super::{
    query::{Known, Query},
    walk::WalkState,
};

impl Query<'_> {
    /// Matches a wait with the first signal since it began. Any later signal could also end a wait
    /// that began later, so if this greedy matching fails, every matching does.
    pub(crate) fn wake(&mut self, number: u32, state: &mut WalkState) {
        let wake = self.model.wakes[number as usize];
        if wake.signal < self.from {
            return;
        }
        let began = (wake.wait >= self.from).then(|| self.place(wake.wait));
        let signals = state.signals.entry(wake.cond).or_default();
        let first =
            signals.iter().position(|it| began.is_none_or(|began| self.place(it.0) > began));
        match first {
            Some(at) if signals[at].1 => {}
            Some(at) => {
                signals.remove(at);
                state.woken.entry(wake.cond).or_default().push(number);
            }
            None => {
                state.broken += 1;
                self.find_signal(number);
                for other in state.woken.get(&wake.cond).into_iter().flatten() {
                    self.find_signal(*other);
                }
            }
        }
    }

    /// Adds clauses: the wait has a signal of its own.
    fn find_signal(&mut self, number: u32) {
        if self.matched.contains_key(&number) {
            return;
        }
        let wake = self.model.wakes[number as usize];
        let mut parts = vec![self.is_out(wake.node)];
        let mut found = Vec::new();
        for (signal, all) in &self.model.conds[wake.cond as usize] {
            let signal = *signal;
            let there = (self.from..self.to).contains(&signal);
            let late = self.model.before(wake.node, signal) || self.model.before(signal, wake.wait);
            if !there || late {
                continue;
            }
            let lit = self.solver.variable(false);
            for part in [self.precedes(wake.wait, signal), self.precedes(signal, wake.node)] {
                self.clause(&[Known::If(-lit), part]);
            }
            parts.push(Known::If(lit));
            if !*all {
                self.share(wake.cond, signal, lit);
                found.push((signal, lit));
            }
        }
        self.clause(&parts);
        self.matched.insert(number, found);
    }

    /// Adds clauses: the signal ends no other wait.
    fn share(&mut self, cond: u32, signal: u32, lit: i32) {
        let others = self.matched.iter();
        let others = others.filter(|it| self.model.wakes[*it.0 as usize].cond == cond);
        let same = others.flat_map(|it| it.1).filter(|it| it.0 == signal);
        let mut lits: Vec<_> = same.map(|it| it.1).collect();
        lits.sort_unstable();
        for other in lits {
            self.clause(&[Known::If(-lit), Known::If(-other)]);
        }
    }
}
