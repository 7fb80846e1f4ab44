//! The patterns of one run, from its trace, in a form that is the same in all runs.

use std::collections::{BTreeMap, BTreeSet};

use norn_localize::{Collector, Occurrence, Pattern};
use norn_model::{Order, SiteId};
use norn_replay::SymbolizedTrace;

use crate::CodeSite;

/// The patterns of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPatterns {
    /// Each pattern once, in the order in which they occurred first, with that occurrence.
    pub patterns: Vec<(Pattern<CodeSite>, Occurrence)>,
    /// Whether the order of plain accesses of different threads was recorded.
    pub is_ordered: bool,
    /// Whether only some bytes of long accesses were looked at.
    pub is_sampled: bool,
}

impl RunPatterns {
    /// Whether a pattern occurred.
    pub(crate) fn has(&self, pattern: &Pattern<CodeSite>) -> bool {
        self.patterns.iter().any(|it| it.0 == *pattern)
    }

    /// Reads a trace, in one pass.
    pub fn of(symbolized: &SymbolizedTrace, window: usize) -> RunPatterns {
        let trace = &symbolized.trace;
        let mut collector = Collector::new(window);
        for event in trace.merged() {
            collector.visit(&event);
        }
        let collected = collector.finish();
        let mut sites: BTreeMap<SiteId, Option<CodeSite>> = BTreeMap::new();
        let mut code_site = |id: SiteId| {
            let find = || CodeSite::new(symbolized, trace.site(id)?.pc);
            sites.entry(id).or_insert_with(find).clone()
        };
        let mut known = BTreeSet::new();
        let mut patterns = Vec::new();
        for (pattern, occurrence) in collected.patterns {
            let pattern = pattern.try_map(|it| code_site(*it));
            patterns.extend(pattern.filter(|it| known.insert(it.clone())).zip(Some(occurrence)));
        }
        RunPatterns {
            patterns,
            is_ordered: trace.order() == Order::Global || trace.run().controlled.is_some(),
            is_sampled: collected.sampled > 0,
        }
    }
}
