//! Lines of a source that was edited: a line may be somewhere else than it was, but lines do not
//! move past each other.

use std::collections::BTreeMap;

/// Where the lines of one function are now, as far as that was seen.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<u32, u32>);

impl Lines {
    /// Whether what was on one line can be on another one now, after all that was seen before. If
    /// so, it stays there.
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
    fn lines_move_but_not_past_each_other() {
        let mut lines = Lines::default();
        assert!(lines.admit(10, 10) && lines.admit(12, 14));
        assert!(lines.admit(12, 14) && !lines.admit(12, 12));
        assert!(!lines.admit(11, 14) && !lines.admit(11, 9) && lines.admit(11, 12));
        assert!(!lines.admit(13, 13) && lines.admit(13, 15));
    }
}
