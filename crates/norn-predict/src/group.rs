//! Order violations at the same places: how many there are, what is known of them, and the few that
//! are the cheapest to try.
//!
//! Adding and merging give the same result in any order. There can be many millions, so
//! one is only written down if it is among the cheapest.

use rustc_hash::FxHashMap;

use crate::{
    access::Touch,
    handoff::HandOff,
    violation::{Kind, Remark},
};

/// What makes two violations the same finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) sites: [u32; 2],
    /// Which of the two are under a lock.
    locked: [bool; 2],
}

/// One violation: two events, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    /// Those that seem meant are tried last, and before them those that only see an older value.
    rank: u8,
    /// How many events must have been: to replay less is cheaper.
    cost: u64,
    /// Threads, counted from 0, and indices.
    pub(crate) events: [(u16, u32); 2],
    /// The first byte that they share.
    pub(crate) addr: u64,
}

/// What is known of one violation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// It reads what nobody has written yet.
    pub(crate) early: bool,
    /// Why it seems meant.
    pub(crate) expected: Option<HandOff>,
}

/// Violations at the same places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    all: u64,
    early: u64,
    /// How many of them look like a hand-off, by its number.
    expected: [u64; HandOff::ALL.len()],
    /// The cheapest, sorted.
    pub(crate) pairs: Vec<Pair>,
}

impl Group {
    fn keep(&mut self, pair: Pair, most: usize) {
        if self.pairs.len() == most && self.pairs.last().is_some_and(|it| *it <= pair) {
            return;
        }
        let at = self.pairs.partition_point(|it| *it < pair);
        if self.pairs.get(at) != Some(&pair) {
            self.pairs.insert(at, pair);
            self.pairs.truncate(most);
        }
    }

    /// How a program hands something on is a matter of its code: one that shows it is enough. But
    /// values must always be the same.
    pub(crate) fn remark(&self) -> Remark {
        let always = |it: &HandOff, count: u64| *it != HandOff::SameValue || count == self.all;
        let mut hand_offs = HandOff::ALL.into_iter().zip(self.expected);
        let expected = hand_offs.find(|(it, count)| *count > 0 && always(it, *count));
        Remark { count: self.all, early: self.early, expected: expected.map(|it| it.0) }
    }
}

/// The violations of a trace.
#[derive(Debug)]
pub(crate) struct Groups {
    /// How many of each are kept.
    most: usize,
    all: FxHashMap<Key, Group>,
}

impl Groups {
    pub(crate) fn new(most: usize) -> Self {
        Groups { most: most.max(1), all: FxHashMap::default() }
    }

    /// Adds a violation: two events in their order.
    pub(crate) fn add(&mut self, kind: Kind, events: [&Touch; 2], how: How) {
        let key =
            Key { kind, sites: events.map(|it| it.site), locked: events.map(|it| it.set != 0) };
        let group = self.all.entry(key).or_default();
        group.all += 1;
        group.early += u64::from(how.early);
        if let Some(expected) = how.expected {
            group.expected[expected as usize] += 1;
        }
        let pair = Pair {
            rank: 2 * u8::from(how.expected.is_some()) + u8::from(!how.early),
            cost: events.iter().map(|it| u64::from(it.index)).sum(),
            events: events.map(|it| (it.thread, it.index)),
            addr: events[0].addr(events[1]),
        };
        group.keep(pair, self.most);
    }

    pub(crate) fn merge(mut self, other: Groups) -> Groups {
        if self.all.len() < other.all.len() {
            return other.merge(self);
        }
        #[expect(clippy::iter_over_hash_type, reason = "the result is the same in any order")]
        for (key, more) in other.all {
            let group = self.all.entry(key).or_default();
            group.all += more.all;
            group.early += more.early;
            group.expected.iter_mut().zip(more.expected).for_each(|(it, more)| *it += more);
            more.pairs.into_iter().for_each(|it| group.keep(it, self.most));
        }
        self
    }

    /// All of them, those first that are the likeliest to do harm.
    pub(crate) fn sorted(self) -> Vec<(Key, Group)> {
        let mut all: Vec<_> = self.all.into_iter().collect();
        all.sort_unstable_by_key(|(key, group)| {
            let remark = group.remark();
            (remark.expected, remark.early == 0, key.kind, group.pairs.first().copied(), *key)
        });
        all
    }
}
