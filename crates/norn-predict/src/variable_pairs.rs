//! Variable pairs: accesses of one thread to two variables that are used together.
//!
//! Variables that are accessed in one region belong together, as in the paper of Huang and Zhang
//! (ISSTA 2011). A region with many accesses has many pairs of variables; we take those that are
//! close to each other. Where no region is marked, only accesses of one function and its direct
//! callees count.

use std::ops::Range;

use norn_model::Scope;
use rustc_hash::FxHashMap;

use crate::{
    access::Touch, lockset::LockSets, outline::Outline, region::Regions, shared_filter::GRANULE,
};

/// Number of earlier accesses that an access is paired with.
const WINDOW: usize = 3;
/// Maximum number of pairs of variables per thread that are examined for the same two sites.
const MAX_PAIRS_PER_SITES: u32 = 256;

/// Two accesses to two variables that are used together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariablePair {
    pub(crate) touches: [Touch; 2],
    pub(crate) gap: u32,
    pub(crate) scope: Scope,
}

impl VariablePair {
    /// The two variables, the lower one first.
    pub(crate) fn variables(&self) -> (u64, u64) {
        let [one, other] = self.touches.map(|it| it.granule);
        (one.min(other), one.max(other))
    }
}

/// Variables that the user declares to belong together: byte ranges of each set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtomicSet(pub Vec<Range<u64>>);

impl AtomicSet {
    fn has(&self, touch: &Touch) -> bool {
        let bits = (0..GRANULE).filter(|it| touch.mask >> it & 1 != 0);
        let mut bytes = bits.map(|it| touch.granule * GRANULE + it);
        bytes.any(|byte| self.0.iter().any(|it| it.contains(&byte)))
    }
}

/// The pairs among a thread's accesses.
#[derive(Debug, Default)]
pub(crate) struct VariablePairs {
    pub(crate) all: Vec<VariablePair>,
    /// Number of pairs that were left out because there are too many.
    pub(crate) left_out: u64,
}

impl VariablePairs {
    /// Scans a thread's accesses; if sets are given, only those to their variables.
    pub(crate) fn new(
        touches: &[Touch],
        outline: &Outline,
        sets: &LockSets,
        regions: &Regions<'_>,
        given: &[AtomicSet],
    ) -> VariablePairs {
        let ours = |it: &&Touch| given.iter().any(|set| set.has(it));
        let chosen: Vec<Touch>;
        let touches = if given.is_empty() {
            touches
        } else {
            chosen = touches.iter().filter(ours).copied().collect();
            &chosen
        };
        let mut search = Search::default();
        for (at, last) in touches.iter().enumerate() {
            for first in touches[at.saturating_sub(WINDOW)..at].iter().rev() {
                if is_one(first, last) || !search.is_new(first, last) {
                    continue;
                }
                let together = |set: &AtomicSet| set.has(first) && set.has(last);
                let Some(scope) = scope(regions, first, last) else { continue };
                if given.is_empty() || given.iter().any(together) {
                    let gap = if first.section == last.section {
                        sets.smallest(outline, first.index, last.index)
                    } else {
                        0
                    };
                    search.pairs.all.push(VariablePair { touches: [*first, *last], gap, scope });
                }
            }
        }
        search.pairs
    }
}

/// Whether two accesses are to one variable.
fn is_one(first: &Touch, last: &Touch) -> bool {
    first.overlaps(last) || first.index == last.index
}

fn scope(regions: &Regions<'_>, first: &Touch, last: &Touch) -> Option<Scope> {
    let scope = regions.scope(first, last)?;
    (scope != Scope::Unmarked || regions.near(first, last)).then_some(scope)
}

#[derive(Default)]
struct Search {
    pairs: VariablePairs,
    /// By two sites: the number of pairs of variables.
    sites: FxHashMap<(u32, u32), u32>,
    /// Sites, variables and the epoch of the thread.
    known: FxHashMap<(u32, u32, u64, u64), u32>,
}

impl Search {
    /// Whether this pair is new, and the limit is not reached.
    fn is_new(&mut self, first: &Touch, last: &Touch) -> bool {
        let sites = (first.site, last.site);
        let count = self.sites.entry(sites).or_default();
        if *count >= MAX_PAIRS_PER_SITES {
            self.pairs.left_out += 1;
            return false;
        }
        let key = (first.site, last.site, first.granule, last.granule);
        let epoch = first.epoch.wrapping_add(1);
        let new = self.known.insert(key, epoch) != Some(epoch);
        *count += u32::from(new);
        new
    }
}
