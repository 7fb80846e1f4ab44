//! The rule of values: a read sees the same value as in the recorded run.
//!
//! It may read from any write of that value, which is a choice with a literal for each write. At
//! first only the recorded write is offered. If there is no solution, and that follows from the
//! assumption that a read sees an offered write, more writes are offered, the nearest first.

use super::{
    cell::Read,
    model::{NEVER, Node},
    query::{Known, Query},
    solver::Lit,
};

/// How many interfering writes are excluded at a time.
const AT_ONCE: usize = 6;

/// The writes that a read may read from.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    offered: Vec<(Node, Lit)>,
    /// Not offered yet, the next one last.
    others: Vec<Node>,
    /// The number of writes that are offered the next time.
    more: usize,
    /// The literal that a write is read from that is not offered.
    escape: Option<Lit>,
}

impl Query<'_> {
    /// The assumptions: every read reads from an offered write.
    pub(crate) fn escapes(&self) -> Vec<Lit> {
        let mut escapes: Vec<_> = self.choices.values().filter_map(|it| it.escape).collect();
        escapes.sort_unstable();
        escapes.into_iter().map(|it| -it).collect()
    }

    /// Offers more writes to the reads whose assumptions exclude a solution; returns whether there
    /// are any.
    pub(crate) fn widen(&mut self) -> bool {
        let responsible =
            |escape: Option<Lit>| escape.is_some_and(|it| self.solver.is_responsible(-it));
        let all = self.choices.iter().filter(|it| responsible(it.1.escape));
        let mut reads: Vec<_> = all.map(|it| *it.0).collect();
        reads.sort_unstable();
        for read in &reads {
            self.offer(*read);
        }
        !reads.is_empty()
    }

    /// Adds clauses for a read that sees another value.
    pub(crate) fn correct_read(&mut self, number: u32, counts: &[u32]) {
        let read = self.model.cells.reads[number as usize];
        if !self.choices.contains_key(&number) {
            self.choose(number);
        }
        let offered = self.choices.get(&number).map(|it| it.offered.clone()).unwrap_or_default();
        for (writer, lit) in offered {
            let at_once = if self.solver.is_true(lit) { AT_ONCE } else { 1 };
            self.protect(&read, writer, lit, at_once, counts);
        }
    }

    /// Excludes other writes between the one that is read from and the read.
    fn protect(&mut self, read: &Read, writer: Node, lit: Lit, at_once: usize, counts: &[u32]) {
        let node = read.node;
        let order = &self.arrows.order;
        let place = order.place(node);
        let after = (writer != NEVER).then(|| order.place(writer));
        let writes = &self.model.cells.all[read.cell as usize].writes;
        let first = writes.partition_point(|it| it.node < self.from);
        let mut between: Vec<_> = writes[first..]
            .iter()
            .take_while(|it| it.node < self.to)
            .filter(|it| it.node != node && it.node != writer)
            .filter(|it| !read.accepts(it.node, it.value) && self.is_inside(counts, it.node))
            .map(|it| (order.place(it.node), it.node))
            .filter(|it| it.0 <= place && after.is_none_or(|after| after <= it.0))
            .collect();
        self.effort.spend(1 + (writes.len() - first) as u64 / 8);
        between.sort_unstable();
        let mut added = 0;
        for (_, other) in between.into_iter().rev() {
            let over = if writer == NEVER { Known::No } else { self.precedes(other, writer) };
            let later = self.precedes(node, other);
            let free = self.is_free(node);
            added += usize::from(self.clause(&[Known::If(-lit), over, later, free]));
            if added == at_once {
                break;
            }
        }
    }

    fn choose(&mut self, number: u32) {
        let read = self.model.cells.reads[number as usize];
        let cell = &self.model.cells.all[read.cell as usize];
        let same = read.value.into_iter().flat_map(|it| cell.writes_of(it));
        let source = Some(read.source).filter(|_| read.by_source);
        let mut writers: Vec<_> = same
            .chain(source)
            .filter(|it| (self.from..self.to).contains(it) && *it != read.node)
            .filter(|it| !self.model.before(read.node, *it))
            .collect();
        // The value at the start of the window.
        let before = cell.writes[..cell.writes.partition_point(|it| it.node < self.from)].last();
        let (writer, value) = before.map_or((NEVER, cell.first), |it| (it.node, it.value));
        let source = if read.source < self.from { NEVER } else { read.source };
        if read.accepts(writer, value) {
            writers.push(NEVER);
        }
        let far = |it: &Node| match *it {
            it if it == source => (0, 0),
            NEVER => (1, read.node - self.from),
            it => (1, it.abs_diff(read.node)),
        };
        writers.sort_unstable_by_key(|it| std::cmp::Reverse((far(it), *it)));
        writers.dedup();
        let choice = Choice { others: writers, more: 1, ..Choice::default() };
        self.choices.insert(number, choice);
        self.offer(number);
    }

    /// Offers more writes to a read.
    fn offer(&mut self, number: u32) {
        let node = self.model.cells.reads[number as usize].node;
        let Some(mut choice) = self.choices.remove(&number) else { return };
        let mut parts = Vec::from_iter(choice.escape.take().map(|it| Known::If(-it)));
        let kept = choice.others.len().saturating_sub(choice.more);
        for writer in choice.others.split_off(kept).into_iter().rev() {
            let lit = self.solver.variable(choice.offered.is_empty());
            if writer != NEVER {
                let first = self.precedes(writer, node);
                self.clause(&[Known::If(-lit), first]);
            }
            choice.offered.push((writer, lit));
            parts.push(Known::If(lit));
        }
        choice.more *= 2;
        if !choice.others.is_empty() {
            let escape = self.solver.variable(false);
            choice.escape = Some(escape);
            parts.push(Known::If(escape));
        }
        parts.push(self.is_free(node));
        self.clause(&parts);
        self.choices.insert(number, choice);
    }
}
