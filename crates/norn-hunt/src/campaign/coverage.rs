//! Coverage: what runs have done so far, and what is new in another one. That is an event where none
//! was, two threads where one did all the work, or a value that was not read there. A thread that
//! reads something else may do what until then only other threads did, and take part in a candidate
//! that no trace had.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use norn_model::{AtomicOp, Event, Op};
use norn_trace::Trace;

use crate::source::{Place, places};

/// Values that are kept of one place. Code that counts or hashes reads new values for ever.
const MOST: usize = 16;

/// What runs have done so far.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    places: BTreeMap<Place, usize>,
    /// By the number of the place, whether two threads of one run were there.
    shared: Vec<bool>,
    /// What was read, by the number of the place.
    values: Vec<BTreeSet<u128>>,
}

/// What a run did that none did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewCoverage {
    /// It came to a new place, or two of its threads did where only one had been.
    Place,
    /// It read a new value.
    Value,
}

impl Coverage {
    /// Takes the places of a run in; returns whether one is new, or new for a second thread.
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

    /// Takes a run in with all that it read.
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

    /// Whether this was not read there before, as far as that is known.
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
