//! Examples of patterns: one occurrence each, with the names of that run, and, if its trace has the
//! accesses, their values and call stacks.

use std::collections::{BTreeMap, BTreeSet};

use norn_localize::{Occurrence, Pattern};
use norn_model::{EventId, ThreadId};
use norn_replay::{SymbolizedTrace, story};
use norn_report::Access;

use crate::CodeSite;

/// Describes occurrences of patterns in a run, in one pass over its trace.
pub(crate) fn describe(
    symbolized: &SymbolizedTrace,
    occurrences: &[(&Pattern<CodeSite>, &Occurrence)],
) -> Vec<Vec<Access>> {
    let events = occurrences.iter().flat_map(|it| it.1.events.iter().copied());
    let wanted: BTreeSet<_> = events.collect();
    let named =
        if wanted.is_empty() { BTreeMap::new() } else { story::accesses(symbolized, &wanted) };
    occurrences.iter().map(|it| accesses(symbolized, *it, &named)).collect()
}

fn accesses(
    symbolized: &SymbolizedTrace,
    (pattern, occurrence): (&Pattern<CodeSite>, &Occurrence),
    named: &BTreeMap<EventId, Access>,
) -> Vec<Access> {
    if occurrence.observed.is_empty() {
        return occurrence.events.iter().filter_map(|it| named.get(it)).cloned().collect();
    }
    let writes = pattern.kind.name().split('-').map(|it| it.starts_with('W'));
    let observed = occurrence.observed.iter().zip(writes);
    let observed = observed.map(|(&(thread, pc), write)| (ThreadId(thread), pc, write));
    story::observed_accesses(symbolized, occurrence.addr, observed)
}
