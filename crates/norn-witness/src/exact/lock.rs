//! The rule of locks: critical sections exclude each other unless all are shared, and a request
//! fails only while another thread holds the lock.

use super::{
    model::{Node, Section},
    query::{Known, Query},
    walk::WalkState,
};

fn conflict(one: &Section, other: &Section) -> bool {
    one.thread != other.thread && !(one.shared && other.shared)
}

impl Query<'_> {
    fn section(&self, number: u32) -> Section {
        self.model.sections[number as usize]
    }

    /// The sections of a lock that are open at this point of the order.
    fn open_now<'s>(&self, lock: u32, state: &'s mut WalkState) -> &'s mut Vec<u32> {
        state.open.entry(lock).or_insert_with(|| self.open_before(lock))
    }

    /// The sections of a lock that are open at the start of the window.
    fn open_before(&self, lock: u32) -> Vec<u32> {
        let begun = |all: &[u32]| {
            let begun = all.partition_point(|it| self.section(*it).open < self.from);
            let last = begun.checked_sub(1).map(|at| all[at]);
            // An empty section may come after the one that contains it.
            let outer = begun.checked_sub(2).map(|at| all[at]);
            let open = |it: &u32| self.section(*it).close >= self.from;
            [last, outer].into_iter().flatten().filter(open).collect::<Vec<_>>()
        };
        let threads = self.model.locks[lock as usize].iter();
        threads.flat_map(|(_, sections)| begun(sections)).collect()
    }

    pub(crate) fn open(&mut self, number: u32, state: &mut WalkState) {
        let section = self.section(number);
        let open = self.open_now(section.lock, state);
        let all = open.clone();
        open.push(number);
        for other in all {
            let other = self.section(other);
            if conflict(&section, &other) {
                state.broken += 1;
                self.keep_apart(&section, &other);
            }
        }
    }

    pub(crate) fn close(&mut self, number: u32, state: &mut WalkState) {
        let lock = self.section(number).lock;
        self.open_now(lock, state).retain(|it| *it != number);
    }

    fn keep_apart(&mut self, one: &Section, other: &Section) {
        let parts = [
            self.precedes(one.close, other.open),
            self.precedes(other.close, one.open),
            self.is_out(one.open),
            self.is_out(other.open),
        ];
        self.clause(&parts);
    }

    /// Whether another thread holds a lock at this point of the order.
    pub(crate) fn is_taken(
        &self,
        node: Node,
        lock: u32,
        shared: bool,
        state: &mut WalkState,
    ) -> bool {
        let thread = self.model.thread(node);
        let all = self.open_now(lock, state).iter().map(|it| self.section(*it));
        all.into_iter().any(|it| it.thread != thread && !(shared && it.shared))
    }

    /// Adds a clause: the event is inside of a section of another thread.
    pub(crate) fn deny(&mut self, node: Node, lock: u32, shared: bool) {
        if !self.denied.insert(node) {
            return;
        }
        let thread = self.model.thread(node);
        let mut parts = vec![self.is_free(node)];
        for (holder, sections) in &self.model.locks[lock as usize] {
            for number in sections {
                let section = self.section(*number);
                let there = section.close >= self.from && section.open < self.to;
                if *holder == thread || shared && section.shared || !there {
                    continue;
                }
                let lit = self.solver.variable(false);
                let opened = self.precedes(section.open, node);
                self.clause(&[Known::If(-lit), opened]);
                let closed = self.precedes(node, section.close);
                self.clause(&[Known::If(-lit), closed]);
                parts.push(Known::If(lit));
            }
        }
        self.clause(&parts);
    }
}
