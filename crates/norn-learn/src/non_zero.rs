//! The variable is never zero: a pointer that is set, a divisor.

use crate::Property;

/// Whether a zero was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NonZero {
    had_zero: bool,
}

impl NonZero {
    pub(crate) fn see(&mut self, value: i64) {
        self.had_zero |= value == 0;
    }

    pub(crate) fn property(self) -> Option<Property> {
        (!self.had_zero).then_some(Property::NonZero)
    }
}
