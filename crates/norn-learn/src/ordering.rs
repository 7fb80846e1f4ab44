//! Of two variables that are read together, one is at most the other.

use crate::{Property, ReadPoint};

/// The orders in which two variables were so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ordering {
    first: Option<(i64, i64)>,
    /// Whether both variables had more than one value.
    varied: (bool, bool),
    less: bool,
    greater: bool,
}

impl Ordering {
    pub(crate) fn see(&mut self, one: i64, other: i64) {
        let first = *self.first.get_or_insert((one, other));
        self.varied = (self.varied.0 || first.0 != one, self.varied.1 || first.1 != other);
        self.less |= one < other;
        self.greater |= one > other;
    }

    /// Whether the first one is at most the second one. A bound that never changes is a range.
    pub(crate) fn at_most(self, other: &ReadPoint) -> Option<Property> {
        let holds = self.less && !self.greater && self.varied == (true, true);
        holds.then(|| Property::AtMost(other.clone()))
    }

    /// The same with the variables exchanged.
    pub(crate) fn reversed(self) -> Ordering {
        Ordering {
            first: self.first.map(|(one, other)| (other, one)),
            varied: (self.varied.1, self.varied.0),
            less: self.greater,
            greater: self.less,
        }
    }
}
