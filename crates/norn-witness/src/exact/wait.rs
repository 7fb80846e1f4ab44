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
                    // In a long window thousands of waits have thousands of signals each.
                    if self.effort.is_spent() {
                        return;
                    }
                    self.find_signal(*other);
                }
            }
        }
    }

    /// Adds clauses: the wait has a signal of its own.
    fn find_signal(&mut self, number: u32) {
        if !self.matched.insert(number) {
            return;
        }
        let wake = self.model.wakes[number as usize];
        let mut parts = vec![self.is_out(wake.node)];
        let signals = &self.model.conds[wake.cond as usize];
        let from = signals.partition_point(|it| it.0 < self.from);
        let to = signals.partition_point(|it| it.0 < self.to);
        self.effort.spend((to - from) as u64 / 8);
        for (signal, all) in &signals[from..to] {
            let signal = *signal;
            if self.model.before(wake.node, signal) || self.model.before(signal, wake.wait) {
                continue;
            }
            let lit = self.solver.variable(false);
            for part in [self.precedes(wake.wait, signal), self.precedes(signal, wake.node)] {
                self.clause(&[Known::If(-lit), part]);
            }
            parts.push(Known::If(lit));
            if !*all {
                self.share(signal, lit);
            }
        }
        self.clause(&parts);
    }

    /// Adds clauses: the signal ends no other wait.
    fn share(&mut self, signal: u32, lit: i32) {
        let others = self.ended.entry(signal).or_default();
        let before = others.clone();
        others.push(lit);
        for other in before {
            self.clause(&[Known::If(-lit), Known::If(-other)]);
        }
    }
}
