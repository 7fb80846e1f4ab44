//! RAPID's variables have no size, and two of them never overlap. Our accesses do: a structure is
//! copied whole and written member by member. So memory is cut wherever any access begins or ends;
//! each piece is a variable, and an access touches all pieces that it covers.

use norn_model::{Event, MemoryAccess};
use rustc_hash::FxHashSet;

/// The places where memory is cut, sorted.
#[derive(Debug)]
pub(super) struct Cells(Vec<u64>);

impl Cells {
    /// Cuts memory for these events.
    pub(super) fn new(events: impl Iterator<Item = Event>) -> Cells {
        let mut seen = FxHashSet::default();
        events.filter_map(|it| it.op.access()).for_each(|it| {
            seen.insert((it.addr, it.end()));
        });
        let mut cuts: Vec<_> = seen.into_iter().flat_map(|(from, to)| [from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        Cells(cuts)
    }

    /// Where the pieces begin that an access touches.
    pub(super) fn touched(&self, access: MemoryAccess) -> &[u64] {
        let first = self.0.partition_point(|&it| it < access.addr);
        let end = self.0.partition_point(|&it| it < access.end());
        &self.0[first..end]
    }
}
