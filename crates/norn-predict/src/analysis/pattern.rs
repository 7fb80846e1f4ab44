//! Analyses whose candidates are matches of patterns: they differ in the class of the patterns, and
//! share [one search](crate::pattern_match).

use norn_model::{Access, BlockEffect, Candidate, Effect, Op, Scope, SiteId, Step};

use super::{Analysis, AnalysisInfo, Found, Priority};
use crate::{
    Options, Pattern,
    access::{accessed, used},
    facts::Facts,
    top_k::{Instance, Key},
};

/// Finds the matches of all patterns of a class.
pub(super) struct PatternAnalysis(pub(super) &'static AnalysisInfo);

impl Analysis for PatternAnalysis {
    fn info(&self) -> &'static AnalysisInfo {
        self.0
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let pattern = |key: &Key| facts.patterns[usize::from(key.pattern)];
        let matches = facts.pattern_matches(options).found.iter();
        let mine = matches.filter(|it| pattern(&it.0).class() == self.0.class).cloned();
        found.add(Priority::Matched, mine, |key, instance, number| {
            candidate(facts, pattern(key), key, instance, number)
        });
    }
}

fn candidate(
    facts: &Facts<'_>,
    pattern: &Pattern,
    key: &Key,
    instance: &Instance,
    number: u32,
) -> Candidate {
    let step = |at: usize| {
        let (place, slot) = (instance.steps[at], pattern.slots[at]);
        let unit = pattern.unit(slot.region).map(|it| instance.steps[it].index);
        let (first, last) = unit.fold((u32::MAX, 0), |(from, to), it| (from.min(it), to.max(it)));
        let scope = if first == last { Scope::Single } else { key.scope };
        let event = &facts.trace.threads[usize::from(place.thread)].events[place.index as usize];
        let own = accessed(&event.op).or_else(|| used(&event.op));
        Step {
            event: event.id,
            site: SiteId(key.sites[at]),
            // If the variable is a whole block, each access has its own address.
            addr: if pattern.frees() { address(&event.op) } else { place.addr },
            access: own.map_or(Access::Free, |(_, _, kind)| kind.access(slot.action)),
            region: facts.sync.regions.bounds(scope, place.thread, first, last),
        }
    };
    Candidate {
        kind: pattern.kind.clone(),
        adjacent: pattern.adjacent,
        steps: (0..pattern.slots.len()).map(step).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

/// The memory of an event.
fn address(op: &Op) -> u64 {
    if let Effect::Block(BlockEffect::Freed { addr }) = op.effect() {
        return addr;
    }
    accessed(op).or_else(|| used(op)).map_or(0, |it| it.0)
}
