//! The variable always has the same value.

use crate::Property;

/// The only value so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Constant {
    #[default]
    Nothing,
    Only(i64),
    Several,
}

impl Constant {
    pub(crate) fn see(&mut self, value: i64) {
        *self = match *self {
            Constant::Nothing => Constant::Only(value),
            Constant::Only(known) if known == value => *self,
            Constant::Only(_) | Constant::Several => Constant::Several,
        };
    }

    pub(crate) fn property(self) -> Option<Property> {
        match self {
            Constant::Only(value) => Some(Property::Constant(value)),
            Constant::Nothing | Constant::Several => None,
        }
    }
}
