//! The rule of once-only initialisations: one attempt at a time, none after a successful one, and
//! an initialisation is found done only after a successful one.

use super::{
    model::{Node, Try},
    query::{Known, Query},
    walk::WalkState,
};

impl Query<'_> {
    fn attempt(&self, number: u32) -> Try {
        self.model.tries[number as usize]
    }

    /// The attempts that are in progress or done at this point of the order.
    fn tries_now<'s>(&self, once: u32, state: &'s mut WalkState) -> &'s mut Vec<u32> {
        state.tries.entry(once).or_insert_with(|| {
            let all = self.model.onces[once as usize].iter().copied();
            let there = |it: &u32| {
                let it = self.attempt(*it);
                it.begin < self.from && (it.end >= self.from || it.done)
            };
            all.filter(there).collect()
        })
    }

    pub(crate) fn begin(&mut self, number: u32, state: &mut WalkState) {
        let this = self.attempt(number);
        let tries = self.tries_now(this.once, state);
        let others = tries.clone();
        tries.push(number);
        for other in others {
            state.broken += 1;
            let other = self.attempt(other);
            let mut parts = vec![self.is_out(this.begin), self.is_out(other.begin)];
            if !other.done {
                parts.push(self.precedes(other.end, this.begin));
            }
            if !this.done {
                parts.push(self.precedes(this.end, other.begin));
            }
            self.clause(&parts);
        }
    }

    pub(crate) fn end(&mut self, number: u32, state: &mut WalkState) {
        let this = self.attempt(number);
        if this.done {
            state.done.insert(this.once);
        } else {
            self.tries_now(this.once, state).retain(|it| *it != number);
        }
    }

    pub(crate) fn done(&mut self, node: Node, once: u32, state: &mut WalkState) {
        let tries = &self.model.onces[once as usize];
        let before = |it: &u32| self.attempt(*it).done && self.attempt(*it).end < self.from;
        if state.done.contains(&once) || tries.iter().any(before) {
            return;
        }
        state.broken += 1;
        let mut parts: Vec<Known> = vec![self.is_out(node)];
        for number in tries {
            let it = self.attempt(*number);
            if it.done {
                parts.push(self.precedes(it.end, node));
            }
        }
        self.clause(&parts);
    }
}
