//! The variable only grows, or only shrinks, as each thread sees it: a counter, a position in a log.

use crate::{Direction, Property};

/// Number of changes that must be seen: two values are always in some order.
const CHANGES: u64 = 3;

/// The directions in which the variable changed so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Monotone {
    ups: u64,
    downs: u64,
}

impl Monotone {
    /// A thread saw a value, and this one before.
    pub(crate) fn see(&mut self, before: i64, value: i64) {
        self.ups += u64::from(value > before);
        self.downs += u64::from(value < before);
    }

    pub(crate) fn property(self) -> Option<Property> {
        match (self.ups, self.downs) {
            (CHANGES.., 0) => Some(Property::Monotone(Direction::Up)),
            (0, CHANGES..) => Some(Property::Monotone(Direction::Down)),
            _ => None,
        }
    }
}
