//! The traces that wait to be analysed, by what they promise.
//!
//! A run that executed new code shows candidates that no earlier trace contains. They take turns with those
//! of the trace at hand, so that what leads to a bug that needs several reorderings is followed to its end.
//! The other candidates of such a trace come later.

use std::collections::VecDeque;

use super::Lead;

/// Maximum number of waiting traces that cover nothing new but values.
const MOST_VALUES: usize = 32;

/// A waiting trace, with the candidates that are left of it if it was analysed before.
pub(super) type Waiting<P, Q> = (P, Option<Q>);

/// The waiting traces.
pub(super) struct Frontier<P, Q> {
    /// Traces with candidates that should not wait. Nothing of them was tried.
    promising: VecDeque<P>,
    /// Traces with new places.
    places: VecDeque<Waiting<P, Q>>,
    /// Traces that cover nothing new but values.
    values: VecDeque<P>,
}

impl<P, Q> Default for Frontier<P, Q> {
    fn default() -> Self {
        Frontier { promising: VecDeque::new(), places: VecDeque::new(), values: VecDeque::new() }
    }
}

impl<P, Q> Frontier<P, Q> {
    /// Adds a run with new coverage.
    pub(super) fn add(&mut self, lead: Option<Lead<P>>) {
        match lead {
            Some(Lead::Promising(pending)) => self.promising.push_back(pending),
            Some(Lead::Place(pending)) => self.places.push_back((pending, None)),
            Some(Lead::Value(pending)) if self.values.len() < MOST_VALUES => {
                self.values.push_back(pending);
            }
            Some(Lead::Value(_)) | None => {}
        }
    }

    /// The next trace with candidates that should not wait.
    pub(super) fn next_promising(&mut self) -> Option<P> {
        self.promising.pop_front()
    }

    /// Puts a trace back whose promising candidates were tried, with what is left.
    pub(super) fn put_back(&mut self, pending: P, queue: Q) {
        self.places.push_back((pending, Some(queue)));
    }

    /// The next trace with new places.
    pub(super) fn next_place(&mut self) -> Option<Waiting<P, Q>> {
        let promising = self.promising.pop_front().map(|it| (it, None));
        promising.or_else(|| self.places.pop_front())
    }

    /// The next trace with new values.
    pub(super) fn next_value(&mut self) -> Option<P> {
        self.values.pop_front()
    }

    /// Whether no trace with new places waits.
    pub(super) fn is_idle(&self) -> bool {
        self.promising.is_empty() && self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_waits_for_what_was_not() {
        let mut frontier: Frontier<u32, char> = Frontier::default();
        for lead in [Lead::Value(1), Lead::Place(2), Lead::Promising(3), Lead::Promising(4)] {
            frontier.add(Some(lead));
        }
        assert_eq!(frontier.next_promising(), Some(3));
        frontier.put_back(3, 'q');
        let places: Vec<_> = std::iter::from_fn(|| frontier.next_place()).collect();
        assert_eq!(places, [(4, None), (2, None), (3, Some('q'))]);
        assert!(frontier.is_idle());
        assert_eq!(frontier.next_value(), Some(1));
    }
}
