//! Coverage: what all runs have done so far, and what is new in another run. A run is new if it
//! reaches a new place, if two of its threads reach a place that only one thread had reached
//! before, or if it reads a new value at a place. A thread that reads another value may take a
//! branch that only other threads took before, and take part in a candidate that no earlier trace
//! contains.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use norn_model::{AtomicOp, Event, Op, ThreadId};
use norn_trace::{ChunkEvents, Trace};
use rayon::prelude::*;

use crate::source::{Place, places};

/// Maximum number of values that are kept for one place. Code that counts or hashes would produce
/// new values forever.
const MOST: usize = 16;

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
}

/// What a run did that no run did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewCoverage {
    /// It reached a new place, or two of its threads reached a place that only one thread had
    /// reached.
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
}

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
        let (mut new_place, mut new_value) = (self.places.len() > before, false);
        for first in (0..trace.par_chunks().len()).step_by(BATCH) {
            let known = &*self;
            let batch = trace.par_chunks().skip(first).take(BATCH);
            let batch: Vec<_> = batch.map(|it| known.read_chunk(it, &numbers, values)).collect();
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
        chunk.for_each(|event| {
            let site = event.site.0 as usize;
            let Some(seen) = sites.get_mut(site) else { return };
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
        ChunkCoverage { thread, sites: sites.filter_map(|(at, it)| Some((at, it?))).collect() }
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
