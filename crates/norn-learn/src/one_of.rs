//! The variable has one of a few values, such as the states of a machine.

use std::collections::BTreeSet;

use crate::Property;

/// Maximum number of values.
const MOST: usize = 4;
/// Number of reads for each value, so that values that are different every time are no invariant.
const READS: u64 = 3;

/// The values so far, until there are too many.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneOf {
    values: BTreeSet<i64>,
    reads: u64,
}

impl OneOf {
    pub(crate) fn see(&mut self, value: i64) {
        self.reads += 1;
        if self.values.len() <= MOST {
            self.values.insert(value);
        }
    }

    pub(crate) fn property(&self) -> Option<Property> {
        let count = self.values.len();
        let enough = self.reads >= READS * u64::try_from(count).unwrap_or(u64::MAX);
        let holds = (2..=MOST).contains(&count) && enough;
        holds.then(|| Property::OneOf(self.values.iter().copied().collect()))
    }
}
