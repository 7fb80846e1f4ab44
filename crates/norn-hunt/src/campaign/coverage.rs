//! Coverage: what all runs have done so far, and what is new in another run. A run is new if it
//! reaches a new place, if two of its threads reach a place that only one thread had reached
//! before, if a thread goes from one synchronisation to another one by a new way, or if it reads a new value at a place. A
//! thread that reads another value may take a branch that only other threads took before, and take part in a
//! candidate that no earlier trace contains: where it need not wait, it reaches no new place, but comes earlier.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    mem,
};

use norn_model::{AtomicOp, Effect, Event, Frame, Op, SiteId, StackId, ThreadId};
use norn_trace::{ChunkEvents, Trace};
use rayon::prelude::*;

use crate::source::{Place, in_module, place, places};

/// Maximum number of values that are kept for one place. Code that counts or hashes would produce
/// new values forever.
const MOST: usize = 16;

/// Maximum number of ways that are kept.
const MOST_WAYS: usize = 1 << 16;

/// Number of callers that distinguish events of synchronisation at one place.
const CALLERS: usize = 4;

/// Number of chunks that are read before what they contribute is added, to limit memory use.
const BATCH: usize = 256;

/// What runs have done so far.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    places: BTreeMap<Place, usize>,
    /// Whether two threads of one run reached a place, by the number of the place.
    shared: Vec<bool>,
    /// The values that were read, by the number of the place.
    values: Vec<BTreeSet<u128>>,
    /// Two events of synchronisation, one after the other in a thread, by [their places and callers](context).
    ways: BTreeSet<[u64; 2]>,
}

/// What a run did that no run did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewCoverage {
    /// It reached a new place, two of its threads reached a place that only one thread had reached, or a thread
    /// took a new way between two places.
    Place,
    /// It read a new value.
    Value,
}

/// What one chunk of a run contributes: the sites that it reaches, and the first unknown values that it
/// reads at each of them.
#[derive(Debug)]
struct ChunkCoverage {
    thread: ThreadId,
    sites: Vec<(usize, Vec<u128>)>,
    ways: BTreeSet<[Stop; 2]>,
}

/// The site and the call stack of an event of synchronisation.
type Stop = (SiteId, StackId);

impl ChunkCoverage {
    fn into_sites(self) -> impl Iterator<Item = (ThreadId, usize, Vec<u128>)> {
        self.sites.into_iter().map(move |(site, values)| (self.thread, site, values))
    }
}

impl Coverage {
    /// Adds the places of a run. Returns whether one of them is new, or new for a second thread.
    pub(crate) fn learn_places(&mut self, trace: &Trace) -> bool {
        self.add(trace, false) == Some(NewCoverage::Place)
    }

    /// Adds the places of a run and all values that it read.
    pub(crate) fn learn(&mut self, trace: &Trace) -> Option<NewCoverage> {
        self.add(trace, true)
    }

    /// The chunks are read in parallel, and added in their order: which values of a place are kept must
    /// not depend on timing.
    fn add(&mut self, trace: &Trace, values: bool) -> Option<NewCoverage> {
        let before = self.places.len();
        let numbers: Vec<_> = places(trace).map(|it| self.number(it)).collect();
        let mut first_visitors = vec![None; numbers.len()];
        let mut contexts = BTreeMap::new();
        let (mut new_place, mut new_value) = (self.places.len() > before, false);
        for first in (0..trace.par_chunks().len()).step_by(BATCH) {
            let known = &*self;
            let batch = trace.par_chunks().skip(first).take(BATCH);
            let batch: Vec<_> = batch.map(|it| known.read_chunk(it, &numbers, values)).collect();
            for way in batch.iter().flat_map(|it| &it.ways) {
                let way = way.map(|it| *contexts.entry(it).or_insert_with(|| context(trace, it)));
                new_place |= self.ways.len() < MOST_WAYS && self.ways.insert(way);
            }
            for (thread, site, values) in batch.into_iter().flat_map(ChunkCoverage::into_sites) {
                if *first_visitors[site].get_or_insert(thread) != thread {
                    new_place |= !mem::replace(&mut self.shared[numbers[site]], true);
                }
                for value in values {
                    new_value |= self.read(numbers[site], value);
                }
            }
        }
        if new_place {
            return Some(NewCoverage::Place);
        }
        new_value.then_some(NewCoverage::Value)
    }

    /// Reads a chunk. `numbers` has the number of each site's place.
    fn read_chunk(&self, chunk: ChunkEvents<'_>, numbers: &[usize], values: bool) -> ChunkCoverage {
        let thread = chunk.thread();
        let mut sites: Vec<Option<Vec<u128>>> = vec![None; numbers.len()];
        // The last value of each site, which is often that of the next read, too.
        let mut last: Vec<Option<u128>> = vec![None; numbers.len()];
        // Ways that lead from one chunk to another one are left out.
        let (mut ways, mut from) = (BTreeSet::new(), None);
        chunk.for_each(|event| {
            let site = event.site.0 as usize;
            let Some(seen) = sites.get_mut(site) else { return };
            let stop = (event.site, event.stack);
            if matters(&event)
                && let Some(from) = from.replace(stop)
            {
                ways.insert([from, stop]);
            }
            let seen = seen.get_or_insert_default();
            let Some(value) = read(&event).filter(|_| values) else { return };
            if last[site] == Some(value) {
                return;
            }
            last[site] = Some(value);
            let known = &self.values[numbers[site]];
            if known.len() + seen.len() < MOST && !seen.contains(&value) && !known.contains(&value)
            {
                seen.push(value);
            }
        });
        let sites = sites.into_iter().enumerate();
        let sites = sites.filter_map(|(at, it)| Some((at, it?))).collect();
        ChunkCoverage { thread, sites, ways }
    }

    fn number(&mut self, place: Place) -> usize {
        let next = self.places.len();
        let number = *self.places.entry(place).or_insert(next);
        self.values.resize_with(self.places.len(), BTreeSet::new);
        self.shared.resize(self.places.len(), false);
        number
    }

    /// Adds a value that was read at a place. Returns whether it is new, as far as values are kept.
    fn read(&mut self, place: usize, value: u128) -> bool {
        let known = &mut self.values[place];
        known.len() < MOST && known.insert(value)
    }
}

/// Identifies a place and its next callers in all runs: many locks are taken by the same few instructions.
fn context(trace: &Trace, (site, stack): Stop) -> u64 {
    let mut hasher = DefaultHasher::new();
    place(trace, site).hash(&mut hasher);
    for frame in trace.stack(stack).take(CALLERS) {
        if let Frame::Call(pc) = frame {
            in_module(trace, pc).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Whether an event is one of synchronisation, other than an atomic operation: how often a loop asks says nothing.
fn matters(event: &Event) -> bool {
    let effect = event.op.effect();
    effect.lock().is_some() || matches!(effect, Effect::Condition(_) | Effect::Semaphore(_))
}

fn read(event: &Event) -> Option<u128> {
    match event.op {
        Op::Read { value, .. } => value,
        Op::Atomic { op, .. } => match op {
            AtomicOp::Load(value) => Some(value),
            AtomicOp::Rmw { old, .. } | AtomicOp::Cas { old, .. } => Some(old),
            AtomicOp::CasFailed { seen, .. } => Some(seen),
            AtomicOp::Store(_) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_limited_number_of_values() {
        let mut coverage = Coverage::default();
        let place = coverage.number(Place::default());
        assert!(coverage.read(place, 7));
        assert!(!coverage.read(place, 7));
        let new = (0..1000).filter(|it| coverage.read(place, *it)).count();
        assert_eq!(new, MOST - 1);
    }
}
