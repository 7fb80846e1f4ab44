//! The order by spin flags: a thread that reads until it sees the expected value comes after the write of
//! that value, although no synchronisation operation says so.

use norn_model::Trace;
use rayon::prelude::*;

use crate::{
    access::Touch,
    benign_order::{BenignOrder, VariableHistory},
    content::Contents,
    facts::Facts,
    order::Order,
    reads_from::reads_from,
    spin::spins,
};

/// An event: number of the thread, from 0, and index.
type At = (u16, u32);

/// Maximum number of edges.
const MOST: usize = 256;

/// The edges from the writes of flags to the reads that end the loops.
#[derive(Debug, Default)]
pub(crate) struct SpinOrder(Vec<(At, At)>);

impl SpinOrder {
    pub(crate) fn new(facts: &Facts<'_>) -> SpinOrder {
        let sites = spins(facts.trace, &facts.accesses.shared);
        let has_spin = |it: &Touch| sites.contains(&it.site);
        let variables = facts.variables().filter(|it| it.iter().any(has_spin));
        let each = variables.flat_map_iter(|it| ends(facts, facts.trace, it));
        let mut edges: Vec<_> = each.collect();
        edges.sort_unstable();
        edges.truncate(MOST);
        SpinOrder(edges)
    }

    /// Whether an event comes before another one by an order, or by that and one spin flag.
    pub(crate) fn happens_before(&self, order: &Order, first: At, second: At) -> bool {
        let before = |one: At, other: At| {
            if one.0 == other.0 {
                one.1 < other.1
            } else {
                one.1 < order.before(other.0, other.1, one.0)
            }
        };
        let upto = |one: At, other: At| one == other || before(one, other);
        before(first, second)
            || self.0.iter().any(|(write, read)| upto(first, *write) && upto(*read, second))
    }
}

/// The writes to a variable that ended loops, each with the read that saw it.
fn ends(facts: &Facts<'_>, trace: &Trace, touches: &[Touch]) -> Vec<(At, At)> {
    let contents = &Contents::new(trace, touches);
    let (outlines, sets) = (facts.sync.outlines, facts.sync.sets);
    let history = VariableHistory { trace, outlines, sets, touches, contents };
    let at = |it: u32| (touches[it as usize].thread, touches[it as usize].index);
    let rows = reads_from(facts.timestamps(), touches, contents);
    let polls = rows.iter().filter(|it| history.asks(it.read) == Some(BenignOrder::SpinFlag));
    let last = polls.filter(|it| history.ends_spin(it.read));
    last.flat_map(|row| row.seen.iter().map(|it| (at(it.write), at(row.read)))).collect()
}
