//! Leaves out repetitions, so that the relevant events of any run fit into memory.
//!
//! Candidates are distinguished by sites, and of the instances at the same sites only a few are
//! tried. So if a run has more relevant events than fit, some of those that repeat what the same
//! thread did shortly before are left out:
//!
//! 1. Accesses of one site to one granule between two events that are not plain accesses, where
//!    neither the held locks nor the order of events changes, are equivalent.
//! 2. Accesses of one site to one granule in one chunk of the trace; and with them critical sections
//!    in which nothing is left.
//! 3. Of the granules only a part is looked at, chosen by its address, so that either all threads'
//!    accesses to a granule are there or none.
//!
//! Of a series, the first ones and then every fourth, sixteenth, and so on, are kept. Chunks are
//! thinned out independently of each other, so that they can be decoded in parallel.

use norn_model::{Event, LockEffect, Op};
use rustc_hash::FxHashMap;

use crate::{Relevance, access::accessed, shared_filter::GRANULE};

/// Number of the first elements of a series that are kept.
const FIRST: u32 = 2;
/// Granules are halved at most this many times for each [`Thinning::next`].
const HALVINGS: u32 = 3;
/// The last level.
const LAST: u32 = 8;

/// How much is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thinning(u32);

impl Thinning {
    /// The next level, which leaves out more; `None` after the last.
    pub fn next(self) -> Option<Thinning> {
        (self.0 < LAST).then_some(Thinning(self.0 + 1))
    }

    /// Whether accesses are left out that are not equivalent to one that is kept.
    pub fn is_lossy(self) -> bool {
        self.0 > 1
    }

    /// Thins out a chunk.
    pub fn chunk(self) -> ThinningState {
        ThinningState { level: self, interval: 0, series: FxHashMap::default() }
    }

    /// Leaves out the critical sections of a chunk in which nothing is left.
    pub fn prune(self, events: &mut Vec<Event>) {
        if self.is_lossy() {
            prune(events);
        }
    }

    /// Whether accesses to a granule are kept.
    fn takes(self, granule: u64) -> bool {
        let halvings = self.0.saturating_sub(2) * HALVINGS;
        // Fibonacci hashing: the high bits of the product depend on all bits of the granule.
        let hash = granule.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash.leading_zeros() >= halvings
    }
}

/// What a chunk has had so far.
#[derive(Debug)]
pub struct ThinningState {
    level: Thinning,
    /// Number of events that were not plain accesses.
    interval: u32,
    /// By site and granule: the interval and the length of a series.
    series: FxHashMap<(u32, u64), (u32, u32)>,
}

impl ThinningState {
    /// Whether an event is kept. It gets all relevant events of a chunk, in order.
    pub fn keeps(&mut self, event: &Event) -> bool {
        if self.level.0 == 0 {
            return true;
        }
        let plain = !Relevance::is_skeleton(event);
        let Some((addr, ..)) = accessed(&event.op).filter(|_| plain) else {
            // From the second level on a series goes on over synchronisation.
            self.interval += u32::from(self.level.0 == 1);
            return true;
        };
        let granule = addr / GRANULE;
        if !self.level.takes(granule) {
            return false;
        }
        let series = self.series.entry((event.site.0, granule)).or_default();
        let length = if series.0 == self.interval { series.1 } else { 0 };
        *series = (self.interval, length + 1);
        is_kept(length)
    }
}

/// Whether the element of a series with this number, from 0, is kept.
fn is_kept(number: u32) -> bool {
    number < FIRST || number.is_power_of_two() && number.trailing_zeros().is_multiple_of(2)
}

/// Removes critical sections without content, but the first ones of each site. The nesting of locks is
/// kept in these, so that deadlocks are still found.
fn prune(events: &mut Vec<Event>) {
    let mut series: FxHashMap<(u32, u64), u32> = FxHashMap::default();
    let mut kept: Vec<Event> = Vec::with_capacity(events.len());
    for event in events.drain(..) {
        if let Some(lock) = released(&event)
            && let Some(last) = kept.last()
            && acquired(last) == Some(lock)
        {
            let number = series.entry((last.site.0, lock)).or_default();
            *number += 1;
            if !is_kept(*number - 1) {
                kept.pop();
                continue;
            }
        }
        kept.push(event);
    }
    *events = kept;
}

fn acquired(event: &Event) -> Option<u64> {
    if let Op::Acquire { lock, .. } = event.op { Some(lock) } else { None }
}

fn released(event: &Event) -> Option<u64> {
    let Some(LockEffect::Release { lock, by_wait: false }) = event.op.effect().lock() else {
        return None;
    };
    Some(lock)
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// The events that a level leaves of one thread's chunk.
    fn kept(level: u32, trace: &str) -> usize {
        let mut events = text::parse(trace).unwrap().threads.remove(0).events;
        let mut state = Thinning(level).chunk();
        events.retain(|it| state.keeps(it));
        Thinning(level).prune(&mut events);
        events.len()
    }

    #[test]
    fn repetitions_are_left_out_but_not_variety() {
        let same = "T1 r x @ a\n".repeat(100);
        assert_eq!(kept(0, &same), 100);
        assert_eq!(kept(1, &same), 5);
        let other: Vec<_> = (0..100).map(|it| format!("T1 r x @ a{it}")).collect();
        assert_eq!(kept(1, &other.join("\n")), 100);
    }

    #[test]
    fn sections_without_content_are_left_out() {
        let section = "T1 acq m @ l\nT1 w x @ a\nT1 rel m @ u\n".repeat(100);
        assert_eq!(kept(1, &section), 300);
        assert_eq!(kept(2, &section), 3 * 5 + 2 * 5);
    }

    #[test]
    fn either_all_accesses_to_a_granule_are_kept_or_none() {
        let access = |it| format!("T1 w {:#x} @ a\n", 0x1000 + it * 8);
        let accesses: String = (0..800).map(access).collect();
        let some = kept(3, &accesses);
        assert!((50..150).contains(&some), "{some}");
        assert_eq!(kept(3, &format!("{accesses}{}", accesses.replace("@ a", "@ b"))), 2 * some);
    }
}
