//! Lines of an edited source file: a line may have moved, but lines keep their order.

use std::collections::BTreeMap;

/// The new line numbers of one function, by the old ones, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct LineMap(BTreeMap<u32, u32>);

impl LineMap {
    /// Whether old line `before` can be line `now`, given the lines that are known. If so, it is
    /// known from then on.
    pub(super) fn admit(&mut self, before: u32, now: u32) -> bool {
        if let Some(known) = self.0.get(&before) {
            return *known == now;
        }
        let above = self.0.range(..before).next_back().is_none_or(|it| *it.1 < now);
        let below = self.0.range(before..).next().is_none_or(|it| now < *it.1);
        if above && below {
            self.0.insert(before, now);
        }
        above && below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_move_but_keep_their_order() {
        let mut lines = LineMap::default();
        assert!(lines.admit(10, 10) && lines.admit(12, 14));
        assert!(lines.admit(12, 14) && !lines.admit(12, 12));
        assert!(!lines.admit(11, 14) && !lines.admit(11, 9) && lines.admit(11, 12));
        assert!(!lines.admit(13, 13) && lines.admit(13, 15));
    }
}
