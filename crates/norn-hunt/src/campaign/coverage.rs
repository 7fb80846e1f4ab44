//! Coverage: what all runs have done so far, and what is new in another run. A run is new if it
//! reaches a new place, if two of its threads reach a place that only one thread had reached
//! before, or if it reads a new value at a place. A thread that reads another value may take a
//! branch that only other threads took before, and take part in a candidate that no earlier trace
//! contains.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use norn_model::{AtomicOp, Event, Op};
use norn_trace::Trace;

use crate::source::{Place, places};

/// Maximum number of values that are kept for one place. Code that counts or hashes would produce
/// new values forever.
const MOST: usize = 16;

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

impl Coverage {
    /// Adds the places of a run. Returns whether one of them is new, or new for a second thread.
    pub(crate) fn learn_places(&mut self, trace: &Trace) -> bool {
        let before = self.places.len();
        let numbers: Vec<_> = places(trace).map(|it| self.number(it)).collect();
        let mut first_visitors = vec![None; numbers.len()];
        let mut newly_shared = false;
        for thread in trace.threads() {
            for event in trace.events(thread.id) {
                let Some(first) = first_visitors.get_mut(event.site.0 as usize) else { continue };
                if *first.get_or_insert(thread.id) != thread.id {
                    let shared = &mut self.shared[numbers[event.site.0 as usize]];
                    newly_shared |= !mem::replace(shared, true);
                }
            }
        }
        newly_shared || self.places.len() > before
    }

    /// Adds the places of a run and all values that it read.
    pub(crate) fn learn(&mut self, trace: &Trace) -> Option<NewCoverage> {
        let new_place = self.learn_places(trace);
        let numbers: Vec<_> = places(trace).map(|it| self.number(it)).collect();
        let mut new_value = false;
        for event in trace.threads().iter().flat_map(|it| trace.events(it.id)) {
            if let (Some(value), Some(at)) = (read(&event), numbers.get(event.site.0 as usize)) {
                new_value |= self.read(*at, value);
            }
        }
        if new_place {
            return Some(NewCoverage::Place);
        }
        new_value.then_some(NewCoverage::Value)
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
