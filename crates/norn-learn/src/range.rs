//! The variable is between two numbers.

use crate::Property;

/// Number of reads without a new smallest or largest value, after which the bounds are believed.
const CALM: u64 = 5;

/// The smallest and the largest value so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    bounds: Option<(i64, i64)>,
    /// Number of reads since a bound changed.
    calm: u64,
}

impl Range {
    pub(crate) fn see(&mut self, value: i64) {
        let (low, high) = self.bounds.unwrap_or((value, value));
        let bounds = Some((low.min(value), high.max(value)));
        self.calm = if self.bounds == bounds { self.calm + 1 } else { 0 };
        self.bounds = bounds;
    }

    pub(crate) fn property(self) -> Option<Property> {
        let (low, high) = self.bounds.filter(|_| self.calm >= CALM)?;
        (low < high).then_some(Property::Range(low, high))
    }
}
