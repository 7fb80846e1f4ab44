//! RAPID's variables have no size, and two of them never overlap. Our accesses do: a structure is
//! copied whole and written member by member. So memory is cut wherever any access begins or ends;
//! each piece is a variable, and an access touches all pieces that it covers.

use norn_model::{Event, Op};
use rustc_hash::FxHashSet;

/// The places where memory is cut, sorted.
#[derive(Debug)]
pub(super) struct Cells(Vec<u64>);

impl Cells {
    /// Cuts memory for these events.
    pub(super) fn new(events: impl Iterator<Item = Event>) -> Cells {
        let mut seen = FxHashSet::default();
        events.filter_map(|it| extent(&it.op)).for_each(|it| {
            seen.insert(it);
        });
        let mut cuts: Vec<_> = seen.into_iter().flat_map(|(from, to)| [from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        Cells(cuts)
    }

    /// Where the pieces begin that an operation touches.
    pub(super) fn touched(&self, op: &Op) -> &[u64] {
        let Some((from, to)) = extent(op) else { return &[] };
        let first = self.0.partition_point(|&it| it < from);
        let end = self.0.partition_point(|&it| it < to);
        &self.0[first..end]
    }
}

/// From where to where an operation accesses memory.
fn extent(op: &Op) -> Option<(u64, u64)> {
    let (addr, size) = match *op {
        Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => (addr, size),
        Op::Atomic { addr, size, .. } => (addr, u64::from(size)),
        _ => return None,
    };
    Some((addr, addr.saturating_add(size)))
}
