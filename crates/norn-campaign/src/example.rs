//! Examples of patterns: one occurrence each, with the names, values and call stacks of that run.

use std::collections::BTreeSet;

use norn_localize::Occurrence;
use norn_replay::{SymbolizedTrace, story};
use norn_report::Access;

/// Describes occurrences of patterns in a run, in one pass over its trace.
pub(crate) fn describe(
    symbolized: &SymbolizedTrace,
    occurrences: &[&Occurrence],
) -> Vec<Vec<Access>> {
    if occurrences.is_empty() {
        return Vec::new();
    }
    let wanted: BTreeSet<_> = occurrences.iter().flat_map(|it| it.events.iter().copied()).collect();
    let named = story::accesses(symbolized, &wanted);
    let accesses = |it: &&Occurrence| {
        let accesses = it.events.iter().filter_map(|it| named.get(it));
        accesses.cloned().collect()
    };
    occurrences.iter().map(accesses).collect()
}
