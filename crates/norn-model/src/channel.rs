//! Channels: which sends a receive depends on.

use std::collections::BTreeMap;

/// The sends of all channels so far, with something about each.
#[derive(Clone, Debug)]
pub struct Channels<T>(BTreeMap<(u64, u64), (u64, T)>);

impl<T> Default for Channels<T> {
    fn default() -> Self {
        Channels(BTreeMap::new())
    }
}

impl<T> Channels<T> {
    /// Adds a send of a range of positions. Ranges of one channel do not overlap.
    pub fn send(&mut self, channel: u64, from: u64, to: u64, what: T) {
        self.0.insert((channel, from), (to, what));
    }

    /// The sends of a range, the last one first. A part that no send covers came from outside of
    /// the program.
    pub fn sends(&self, channel: u64, from: u64, to: u64) -> impl Iterator<Item = &T> {
        let before = self.0.range((channel, 0)..(channel, to)).rev();
        before.take_while(move |it| from < to && it.1.0 > from).map(|it| &it.1.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_depends_on_the_sends_of_its_range() {
        let mut channels = Channels::default();
        for (from, to) in [(0, 2), (2, 5), (5, 6)] {
            channels.send(7, from, to, from);
        }
        channels.send(8, 0, 100, 50);
        let sends = |from, to| channels.sends(7, from, to).copied().collect::<Vec<_>>();
        assert_eq!(sends(0, 2), [0]);
        assert_eq!(sends(1, 3), [2, 0]);
        assert_eq!(sends(4, 9), [5, 2]);
        assert_eq!(sends(6, 9), [0; 0]);
        assert_eq!(sends(3, 3), [0; 0], "nothing was received from this program");
    }
}
