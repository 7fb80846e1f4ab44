//! Finds granules of memory with the same history, of which prediction needs only a few.
//!
//! Threads often treat the words of a block or of a part of an array alike: one thread fills all of them,
//! another one adds them up. If the same instructions of the same threads access two granules, between
//! the same two synchronisation events, then everything that orders or protects the accesses is the same,
//! and so are the places that a finding would name. What can differ is the values.
//!
//! A history is a hash, so two granules may seem alike that are not. With 32 bits that is rare, and it
//! costs a candidate only if it concerns more granules than are kept.

use norn_model::Event;

/// Number of granules with the same history that are kept: two, so that anomalies of variables that belong
/// together are still found.
const KEPT: u8 = 2;
/// Minimum and maximum number of histories that are remembered, as powers of two.
const FEWEST: u32 = 10;
const MOST: u32 = 22;

/// The accesses to a granule, as a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GranuleHistory(u32);

impl GranuleHistory {
    /// Adds an access to some bytes of the granule, by a thread that has executed `passed` events of the
    /// skeleton before.
    #[inline]
    pub(crate) fn add(
        &mut self,
        thread: u16,
        passed: u32,
        event: &Event,
        (addr, size): (u64, u64),
    ) {
        let place = u64::from(event.site.0) << u32::BITS | u64::from(passed);
        let bytes = (addr % 8) << 8 | size << 16 | u64::from(thread) << 32;
        // The high half of a product depends on all bits of both factors.
        let mixed = (place ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ bytes;
        let mixed = (mixed ^ u64::from(self.0)).wrapping_mul(0xa076_1d64_78bd_642f);
        self.0 = u32::try_from(mixed >> u32::BITS).unwrap_or(0);
    }
}

/// Chooses granules of each history.
#[derive(Debug)]
pub(crate) struct Representatives {
    /// Some histories that were seen, and how often. If two of them share an entry, the older one is
    /// forgotten, and more granules of it than necessary are kept.
    seen: Vec<(GranuleHistory, u8)>,
    shift: u32,
}

impl Representatives {
    /// For this number of granules. They come in no order, so that the granules of a history are far apart: each
    /// history needs an entry of its own. A run that allocates a block for each of its items has as many
    /// histories as items, and would be loaded as a whole otherwise.
    pub(crate) fn new(granules: usize) -> Representatives {
        let bits = granules.next_power_of_two().ilog2().clamp(FEWEST, MOST);
        let seen = vec![(GranuleHistory::default(), 0); 1 << bits];
        Representatives { seen, shift: u32::BITS - bits }
    }

    /// Whether another granule with this history is kept.
    pub(crate) fn keeps(&mut self, history: GranuleHistory) -> bool {
        let place = usize::try_from(history.0 >> self.shift).unwrap_or(0);
        let entry = &mut self.seen[place];
        if entry.0 != history {
            *entry = (history, 0);
        }
        entry.1 = entry.1.saturating_add(1);
        entry.1 <= KEPT
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// The history of a granule that the events of a trace access.
    fn history(trace: &str, passed: u32) -> GranuleHistory {
        let trace = text::parse(trace).unwrap();
        let mut history = GranuleHistory::default();
        for event in trace.merged() {
            let access = event.op.access().unwrap();
            let thread = u16::try_from(event.id.thread.0).unwrap();
            history.add(thread, passed, &event, (access.addr, access.size));
        }
        history
    }

    #[test]
    fn a_few_granules_of_each_history_are_kept() {
        let one = history("T1 w x @ a\nT1 r x @ b", 3);
        let mut representatives = Representatives::new(0);
        let kept: Vec<_> = (0..4).map(|_| representatives.keeps(one)).collect();
        assert_eq!(kept, [true, true, false, false]);
        assert!(representatives.keeps(history("T1 w x @ a\nT1 r x @ b", 4)));
    }

    #[test]
    fn blocks_of_many_items_are_told_apart() {
        // By word and not by block, as in the order of hashes.
        const BLOCKS: u32 = 100_000;
        let histories: Vec<_> = (0..BLOCKS).map(|it| history("T1 w x @ a", it)).collect();
        let mut representatives = Representatives::new(24 * histories.len());
        let words = (0..24).flat_map(|_| &histories);
        let kept = words.filter(|it| representatives.keeps(**it)).count();
        assert!(kept < 3 * histories.len(), "{kept}");
    }

    #[test]
    fn a_history_has_places_threads_and_synchronisation() {
        let all = [
            history("T1 w 0x1000:4 0 @ a", 3),
            history("T1 w 0x1004:4 0 @ a", 3),
            history("T1 w 0x1000:8 0 @ a", 3),
            history("T1 w 0x1000:4 0 @ a", 4),
            history("T1 w 0x1000:4 0 @ a\nT1 w 0x1000:4 0 @ a", 3),
        ];
        let different = all.iter().filter(|it| all.iter().filter(|other| other == it).count() == 1);
        assert_eq!(different.count(), all.len(), "{all:?}");
        assert_eq!(history("T1 w 0x1000:4 0 @ a", 3), history("T1 w 0x2000:4 0 @ a", 3));
    }
}
