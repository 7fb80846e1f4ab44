//! Two variables that are read together are equal.

use crate::{Property, ReadPoint};

/// Whether two variables were equal so far, with more than one value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Equality {
    first: Option<i64>,
    varied: bool,
    broken: bool,
}

impl Equality {
    pub(crate) fn see(&mut self, one: i64, other: i64) {
        self.varied |= *self.first.get_or_insert(one) != one;
        self.broken |= one != other;
    }

    /// Two constants that are equal say nothing about each other.
    pub(crate) fn property(self, other: &ReadPoint) -> Option<Property> {
        (self.varied && !self.broken).then(|| Property::Equal(other.clone()))
    }
}
