//! A variable is the sum of the elements of an array: a total and its parts.

use crate::{Property, ReadPoint};

/// Whether a variable was a sum so far, with more than one value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArraySum {
    first: Option<i64>,
    varied: bool,
    broken: bool,
}

impl ArraySum {
    pub(crate) fn see(&mut self, total: i64, elements: impl Iterator<Item = i64>) {
        self.varied |= *self.first.get_or_insert(total) != total;
        self.broken |= elements.fold(0_i64, i64::wrapping_add) != total;
    }

    pub(crate) fn property(self, array: &ReadPoint) -> Option<Property> {
        (self.varied && !self.broken).then(|| Property::Sum(array.clone()))
    }
}
