//! The patterns of one run, in a form that is the same in all runs.

use std::collections::{BTreeMap, BTreeSet};

use norn_localize::{Collector, Occurrence, Pattern, PatternKind};
use norn_model::{Order, SiteId};
use norn_replay::SymbolizedTrace;
use norn_trace::Collected;

use crate::{CodeSite, Localizer, Origin, RunEvidence, RunOutcome, example};

/// The patterns of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPatterns {
    /// Each pattern once, in the order in which they occurred first, with that occurrence.
    pub patterns: Vec<(Pattern<CodeSite>, Occurrence)>,
    /// Whether the order of plain accesses of different threads was recorded.
    pub is_ordered: bool,
    /// Whether only some bytes of long accesses, or some of the accesses at frequent sites, were
    /// looked at.
    pub is_sampled: bool,
}

impl RunPatterns {
    /// Whether a pattern occurred.
    pub(crate) fn has(&self, pattern: &Pattern<CodeSite>) -> bool {
        self.patterns.iter().any(|it| it.0 == *pattern)
    }

    /// Adds the run to others, with examples of its patterns.
    pub(crate) fn add_to(
        &self,
        localizer: &mut Localizer,
        symbolized: &SymbolizedTrace,
        outcome: &RunOutcome,
        origin: Origin,
    ) {
        let failing = outcome.failure().is_some();
        let found = self.patterns.iter();
        let new: Vec<_> = found.filter(|it| !localizer.is_described(&it.0, failing)).collect();
        let occurrences: Vec<_> = new.iter().map(|it| (&it.0, &it.1)).collect();
        let described = example::describe(symbolized, &occurrences);
        for ((pattern, _), accesses) in new.into_iter().zip(described) {
            localizer.describe(pattern, failing, accesses);
        }
        localizer.add(&RunEvidence {
            origin,
            outcome: outcome.clone(),
            patterns: self.patterns.iter().map(|it| it.0.clone()).collect(),
            is_ordered: self.is_ordered,
            is_sampled: self.is_sampled,
        });
    }

    /// The patterns of a run: those that the runtime collected in place of its accesses, or else those
    /// of its trace.
    pub fn of(symbolized: &SymbolizedTrace, window: usize) -> RunPatterns {
        let run = symbolized.trace.run();
        match &run.collected {
            Some(collected) if run.controlled.is_none() => {
                RunPatterns::collected(symbolized, collected)
            }
            _ => RunPatterns::traced(symbolized, window),
        }
    }

    /// Reads a trace, in one pass.
    pub fn traced(symbolized: &SymbolizedTrace, window: usize) -> RunPatterns {
        let trace = &symbolized.trace;
        let mut collector = Collector::new(window);
        for event in trace.merged() {
            collector.visit(&event);
        }
        let collected = collector.finish();
        let found = collected.patterns.into_iter();
        let pc = |it: &SiteId| trace.site(*it).map(|it| it.pc);
        let found = found.filter_map(|(it, occurrence)| Some((it.try_map(pc)?, occurrence)));
        RunPatterns {
            patterns: at_code_sites(symbolized, found),
            is_ordered: trace.order() == Order::Global || trace.run().controlled.is_some(),
            is_sampled: collected.sampled > 0,
        }
    }

    /// The patterns that the runtime collected.
    pub fn collected(symbolized: &SymbolizedTrace, collected: &Collected) -> RunPatterns {
        let found = collected.patterns.iter().filter_map(|it| {
            let kind = PatternKind::from_name(&it.shape)?;
            let sites = it.accesses.iter().map(|it| it.pc).collect();
            let accesses = it.accesses.iter().map(|it| (it.thread, it.pc));
            Some((Pattern { kind, sites }, Occurrence::observed(it.addr, accesses)))
        });
        RunPatterns {
            patterns: at_code_sites(symbolized, found),
            is_ordered: true,
            is_sampled: collected.sampled > 0 || collected.left_out > 0,
        }
    }
}

/// Patterns at places in the source, each once. Those at places that are not the program's are left out.
fn at_code_sites(
    symbolized: &SymbolizedTrace,
    found: impl Iterator<Item = (Pattern<u64>, Occurrence)>,
) -> Vec<(Pattern<CodeSite>, Occurrence)> {
    let mut sites: BTreeMap<u64, Option<CodeSite>> = BTreeMap::new();
    let mut code_site =
        |pc: u64| sites.entry(pc).or_insert_with(|| CodeSite::new(symbolized, pc)).clone();
    let mut known = BTreeSet::new();
    let mut patterns = Vec::new();
    for (pattern, occurrence) in found {
        let pattern = pattern.try_map(|it| code_site(*it));
        patterns.extend(pattern.filter(|it| known.insert(it.clone())).zip(Some(occurrence)));
    }
    patterns
}
