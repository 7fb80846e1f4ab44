//! Matches all patterns in one search: accesses are sorted by variable, and variables are searched
//! in parallel.

use norn_model::Scope;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

use crate::{
    Options,
    access::Touch,
    facts::Facts,
    order::Order,
    pattern::Pattern,
    pattern_search,
    top_k::{EventPlace, Instance, Key, TopK},
    two_region_match::{TwoRegionPattern, are_guarded},
    unit::{Class, Classes},
    variable_pairs::VariablePair,
};

/// Maximum number of units of a thread that are examined for an instance that the recorded run leaves
/// unordered.
const MAX_SCANNED: usize = 64;

/// The matches of the patterns.
#[derive(Debug)]
pub(crate) struct Matches {
    /// The matches, sorted; the number in a key is that of the pattern.
    pub(crate) found: Vec<(Key, Vec<Instance>)>,
    /// The patterns whose search reached its limit.
    pub(crate) unfinished: Vec<String>,
}

/// A search for all patterns in a trace.
#[derive(Debug)]
pub(crate) struct PatternSearch<'f, 'a> {
    facts: &'f Facts<'a>,
    /// Maximum number of instances per finding.
    instances: usize,
    /// Whether accesses that merely follow each other count as regions.
    unmarked: bool,
}

impl<'f, 'a> PatternSearch<'f, 'a> {
    pub(crate) fn new(facts: &'f Facts<'a>, options: &Options) -> Self {
        PatternSearch { facts, instances: options.instances, unmarked: options.unmarked }
    }

    /// Searches for all patterns.
    pub(crate) fn matches(&self) -> Matches {
        let (general, unfinished) = self.general();
        let found = self.variables().merge(self.pairs(&self.facts.pairs.all));
        let found = found.merge(self.blocks(&self.facts.accesses.uses)).merge(general);
        Matches { found: found.sorted(), unfinished }
    }

    /// Searches each variable.
    fn variables(&self) -> TopK {
        let empty = || TopK::new(self.instances);
        let search = |mut found, touches: &[Touch]| {
            self.variable(touches, &mut found);
            found
        };
        self.facts.variables().fold(empty, search).reduce(empty, TopK::merge)
    }

    /// Searches each pair of variables. The pairs are sorted by them.
    fn pairs(&self, pairs: &[VariablePair]) -> TopK {
        let empty = || TopK::new(self.instances);
        pairs
            .par_chunk_by(|a, b| a.variables() == b.variables())
            .fold(empty, |mut found, pairs| {
                let mut classes = Classes::default();
                for it in pairs.iter().filter(|it| self.wants(it.scope)) {
                    classes.add(it.touches, it.gap, it.scope);
                }
                self.match_classes(&classes.all, |it| !it.frees && it.width == 2, &mut found);
                found
            })
            .reduce(empty, TopK::merge)
    }

    /// Searches each block of memory that is freed. The accesses are sorted by block.
    fn blocks(&self, touches: &[Touch]) -> TopK {
        let empty = || TopK::new(self.instances);
        let frees = |it: &&TwoRegionPattern| it.frees && it.width == 1;
        touches
            .par_chunk_by(|a, b| a.granule == b.granule)
            .fold(empty, |mut found, touches| {
                if is_shared(touches) {
                    self.match_classes(&self.classes(touches).all, frees, &mut found);
                }
                found
            })
            .reduce(empty, TopK::merge)
    }

    /// Searches for the patterns that do not have two regions with at most two accesses each.
    fn general(&self) -> (TopK, Vec<String>) {
        let mut found = TopK::new(self.instances);
        let mut unfinished = Vec::new();
        let Facts { patterns, two_region, accesses, sync, .. } = self.facts;
        let is_two_region = |it: usize| two_region.iter().any(|two| usize::from(two.pattern) == it);
        let others: Vec<_> = (0..patterns.len()).filter(|it| !is_two_region(*it)).collect();
        if others.is_empty() {
            return (found, unfinished);
        }
        let variables = self.facts.variables().filter(|it| is_shared(it));
        let variables: Vec<_> = variables.map(represent).collect();
        let blocks = accesses.uses.par_chunk_by(|a, b| a.granule == b.granule);
        let blocks: Vec<_> = blocks.filter(|it| is_shared(it)).map(represent).collect();
        for number in others {
            let pattern = patterns[number];
            let variables = if pattern.frees() { &blocks } else { &variables };
            let (matches, more) = pattern_search::search(*sync, pattern, variables);
            unfinished.extend(more.then(|| pattern.name().to_owned()));
            for (scope, touches) in matches.into_iter().filter(|it| self.wants(it.0)) {
                self.keep((number, scope), &touches, true, &mut found);
            }
        }
        (found, unfinished)
    }

    fn wants(&self, scope: Scope) -> bool {
        self.unmarked || scope != Scope::Unmarked
    }

    fn variable(&self, touches: &[Touch], found: &mut TopK) {
        let wanted = |it: &&TwoRegionPattern| !it.frees && it.width == 1;
        if is_shared(touches) && self.facts.two_region.iter().any(|it| wanted(&it)) {
            self.match_classes(&self.classes(touches).all, wanted, found);
        }
    }

    /// The units of one variable: single accesses, and pairs of consecutive ones.
    fn classes(&self, touches: &[Touch]) -> Classes {
        let mut classes = Classes::default();
        for touch in touches {
            classes.add([*touch; 2], touch.set, Scope::Single);
        }
        let mut pair = |first: &Touch, last: &Touch| {
            let scope = self.facts.sync.regions.scope(first, last).filter(|it| self.wants(*it));
            if let Some(scope) = scope {
                classes.add([*first, *last], self.gap(first, last), scope);
            }
        };
        let one = touches.iter().all(|it| it.mask == touches[0].mask);
        if one {
            for [first, last] in touches.array_windows() {
                if first.thread == last.thread && first.index != last.index {
                    pair(first, last);
                }
            }
        } else {
            consecutive(touches).for_each(|(first, last)| pair(first, last));
        }
        classes
    }

    fn gap(&self, first: &Touch, last: &Touch) -> u32 {
        if first.section != last.section {
            return 0;
        }
        let outline = &self.facts.sync.outlines[usize::from(first.thread)];
        self.facts.sync.sets.smallest(outline, first.index, last.index)
    }

    fn match_classes(
        &self,
        classes: &[Class],
        which: impl Fn(&&TwoRegionPattern) -> bool,
        found: &mut TopK,
    ) {
        for pattern in self.facts.two_region.iter().filter(which) {
            let unit = |unit| classes.iter().filter(move |it| pattern.takes(unit, it));
            let others: Vec<_> = unit(1).collect();
            for one in unit(0) {
                for other in &others {
                    if pattern.fits(self.facts.sync.sets, [one, other]) {
                        self.join(pattern, [one, other], found);
                    }
                }
            }
        }
    }

    /// Keeps the first instances of two classes that can be ordered as the pattern requires: first
    /// those that need no synchronisation to be moved, since the recorded run leaves them unordered.
    fn join(&self, pattern: &TwoRegionPattern, classes: [&Class; 2], found: &mut TopK) {
        let atomic = |it: &&Class| it.touches.iter().any(|it| it.kind.is_atomic());
        let order = self.facts.sync.orders[usize::from(classes.iter().any(atomic))];
        let recorded = self.facts.recorded_order();
        // The recorded run orders everything under a common lock, so a search would be in vain.
        let guarded = are_guarded(self.facts.sync.sets, classes);
        let phases = [(recorded, MAX_SCANNED), (order, usize::MAX)];
        for (order, scanned) in phases.into_iter().skip(usize::from(guarded)) {
            let instances = self.instances_of(pattern, classes, order, scanned);
            for (threads, members) in instances.take(self.instances) {
                let touches = touches(pattern, classes, threads, members);
                let scope = classes[0].scope.max(classes[1].scope);
                let ordered = pattern.contradicts(recorded, threads, members);
                if !self.keep((pattern.pattern.into(), scope), &touches, ordered, found) {
                    return;
                }
            }
        }
    }

    /// The instances of two classes that an order permits, as threads and members. Of each share at
    /// most this many members are examined, at equal distances.
    fn instances_of<'c>(
        &'c self,
        pattern: &'c TwoRegionPattern,
        classes: [&'c Class; 2],
        order: &'c Order,
        scanned: usize,
    ) -> impl Iterator<Item = ([u16; 2], [[u32; 2]; 2])> + 'c {
        let pairs = classes[0].shares.iter().flat_map(move |one| {
            let others = classes[1].shares.iter();
            let pairs = others.map(move |other| [one, other]);
            pairs.filter(move |it| self.are_concurrent(pattern, it.map(|it| it.thread)))
        });
        pairs.flat_map(move |shares| {
            let step = shares[0].members.len().div_ceil(scanned).max(1);
            shares[0].members.iter().step_by(step).filter_map(move |a| {
                let b = pattern.instance(order, shares, *a)?;
                Some((shares.map(|it| it.thread), [*a, b]))
            })
        })
    }

    /// Whether two streams can interleave as the pattern requires. A signal handler and the thread
    /// that it interrupts do not run at the same time: neither do they race, nor does the thread
    /// come between two accesses of the handler.
    fn are_concurrent(&self, pattern: &TwoRegionPattern, threads: [u16; 2]) -> bool {
        let [one, other] = threads;
        let outer = match () {
            () if self.facts.interrupts(one, other) => 0,
            () if self.facts.interrupts(other, one) => 1,
            () => return one != other,
        };
        !pattern.is_adjacent() && !pattern.splits(outer)
    }

    /// Keeps an instance; returns false if there are enough cheaper ones.
    fn keep(
        &self,
        (pattern, scope): (usize, Scope),
        touches: &[Touch],
        ordered: bool,
        found: &mut TopK,
    ) -> bool {
        let slots = &self.facts.patterns[pattern].slots;
        let addr = |at: usize| {
            let same = |it: usize| it != at && slots[it].variable == slots[at].variable;
            let other = (0..slots.len()).find(|it| same(*it)).unwrap_or(at);
            touches[at].addr(&touches[other])
        };
        let steps = touches.iter().enumerate().map(|(at, it)| EventPlace {
            thread: it.thread,
            index: it.index,
            addr: addr(at),
        });
        let locked = touches.iter().rev().fold(0, |bits, it| bits << 1 | u16::from(it.set != 0));
        let key = Key {
            scope,
            pattern: u16::try_from(pattern).unwrap_or(u16::MAX),
            sites: touches.iter().map(|it| it.site).collect(),
            locked,
        };
        let steps: SmallVec<[EventPlace; 4]> = steps.collect();
        // How far each thread must run.
        let far = |at: usize| {
            let later = steps[at + 1..].iter().any(|it| it.thread == steps[at].thread);
            if later { 0 } else { u64::from(steps[at].index) }
        };
        let cost = (0..steps.len()).map(far).sum();
        let apart =
            if scope == Scope::Unmarked { apart(self.facts.patterns[pattern], &steps) } else { 0 };
        found.add(key, Instance { ordered, apart, cost, steps })
    }
}

/// Whether accesses, which are sorted by thread, belong to several threads.
fn is_shared(touches: &[Touch]) -> bool {
    touches.first().zip(touches.last()).is_some_and(|(a, b)| a.thread != b.thread)
}

/// Consecutive accesses of one thread. A granule can contain several variables, so consecutiveness
/// is determined byte by byte.
fn consecutive(touches: &[Touch]) -> impl Iterator<Item = (&Touch, &Touch)> {
    let mut bytes: [Option<&Touch>; 8] = [None; 8];
    touches.iter().flat_map(move |last| {
        let mut pairs: SmallVec<[(&Touch, &Touch); 1]> = SmallVec::new();
        for (_, byte) in bytes.iter_mut().enumerate().filter(|it| last.mask >> it.0 & 1 != 0) {
            let before = byte.replace(last);
            let first = before.filter(|it| it.thread == last.thread && it.index != last.index);
            let known = pairs.last().map(|it| it.0.index);
            pairs.extend(first.filter(|it| known != Some(it.index)).map(|it| (it, last)));
        }
        pairs
    })
}

/// The representatives of the accesses to a variable.
fn represent(touches: &[Touch]) -> Vec<Touch> {
    let mut classes = Classes::default();
    for touch in touches {
        classes.add([*touch; 2], touch.set, Scope::Single);
    }
    let members = |class: Class| {
        let touch = class.touches[0];
        class.shares.into_iter().flat_map(move |share| {
            let thread = share.thread;
            let members = share.members.into_iter();
            members.map(move |it| Touch { index: it[0], thread, ..touch })
        })
    };
    let mut all: Vec<_> = classes.all.into_iter().flat_map(members).collect();
    all.sort_unstable_by_key(|it| (it.index, it.thread));
    all
}

/// The total number of events from the first to the last access of each region.
fn apart(pattern: &Pattern, steps: &[EventPlace]) -> u64 {
    let region = |region: usize| {
        let indices = pattern.unit(region).map(|at| steps[at].index);
        let bounds = |(from, to): (u32, u32), it: u32| (from.min(it), to.max(it));
        let (first, last) = indices.fold((u32::MAX, 0), bounds);
        u64::from(last.saturating_sub(first))
    };
    (0..pattern.regions()).map(region).sum()
}

/// The accesses of two units, in the order of the pattern.
fn touches(
    pattern: &TwoRegionPattern,
    classes: [&Class; 2],
    threads: [u16; 2],
    members: [[u32; 2]; 2],
) -> SmallVec<[Touch; 4]> {
    let len = pattern.places[0].len() + pattern.places[1].len();
    let mut touches: SmallVec<[Touch; 4]> = smallvec![classes[0].touches[0]; len];
    for unit in 0..2 {
        for (at, place) in pattern.places[unit].iter().enumerate() {
            let (index, thread) = (members[unit][at], threads[unit]);
            touches[*place] = Touch { index, thread, ..classes[unit].touches[at] };
        }
    }
    touches
}
