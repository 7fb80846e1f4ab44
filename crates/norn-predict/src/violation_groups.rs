//! Order violations at the same places: how many there are, what is known of them, and the few that
//! are the cheapest to try.
//!
//! Adding and merging give the same result in any order. There can be many millions, so
//! one is only written down if it is among the cheapest.

use norn_model::{Access, Candidate, CandidateKind, Scope, SiteId, Step, Trace};
use rustc_hash::FxHashMap;

use crate::{access::Touch, benign_order::BenignOrder};

/// How an order is violated; what comes first is the likeliest to do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum OrderKind {
    /// A synchronisation object is used after it was destroyed.
    AfterDestroy,
    /// A read comes before the write that it was to see.
    Overdue,
    /// A read comes after the write that was to follow it.
    Premature,
    /// A synchronisation object is used before it is initialised.
    BeforeInit,
}

impl OrderKind {
    /// The kind of a candidate that violates it.
    fn candidate(self) -> CandidateKind {
        match self {
            OrderKind::Overdue => CandidateKind::OverdueUse,
            OrderKind::Premature => CandidateKind::PrematureUse,
            OrderKind::AfterDestroy => CandidateKind::UseAfterDestroy,
            OrderKind::BeforeInit => CandidateKind::UseBeforeInit,
        }
    }

    /// What its two events do, in their order.
    fn accesses(self) -> [Access; 2] {
        match self {
            OrderKind::Overdue => [Access::Read, Access::Write],
            OrderKind::Premature => [Access::Write, Access::Read],
            OrderKind::AfterDestroy => [Access::Destroy, Access::Use],
            OrderKind::BeforeInit => [Access::Use, Access::Init],
        }
    }
}

/// What is known of violations with the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How many there are in the trace.
    pub count: u64,
    /// How many of them read what nobody has written yet.
    pub early: u64,
    /// Why the order seems not to matter to the program.
    pub expected: Option<BenignOrder>,
}

impl Remark {
    /// What is known of these and those together. All must be expected for one reason.
    #[must_use]
    pub fn join(self, other: Remark) -> Remark {
        Remark {
            count: self.count + other.count,
            early: self.early + other.early,
            expected: self.expected.filter(|it| other.expected == Some(*it)),
        }
    }
}

/// What makes two violations the same finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) kind: OrderKind,
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
    pub(crate) expected: Option<BenignOrder>,
}

/// Violations at the same places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    all: u64,
    early: u64,
    /// How many of them look like a hand-off, by its number.
    expected: [u64; BenignOrder::ALL.len()],
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
        let always =
            |it: &BenignOrder, count: u64| *it != BenignOrder::SameValue || count == self.all;
        let mut hand_offs = BenignOrder::ALL.into_iter().zip(self.expected);
        let expected = hand_offs.find(|(it, count)| *count > 0 && always(it, *count));
        Remark { count: self.all, early: self.early, expected: expected.map(|it| it.0) }
    }
}

/// The violations of a trace.
#[derive(Debug)]
pub(crate) struct ViolationGroups {
    /// How many of each are kept.
    most: usize,
    all: FxHashMap<Key, Group>,
}

impl ViolationGroups {
    pub(crate) fn new(most: usize) -> Self {
        ViolationGroups { most: most.max(1), all: FxHashMap::default() }
    }

    /// Adds a violation: two events in their order.
    pub(crate) fn add(&mut self, kind: OrderKind, events: [&Touch; 2], how: How) {
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

    pub(crate) fn merge(mut self, other: ViolationGroups) -> ViolationGroups {
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

/// The candidates and what is known of them, the likeliest to do harm first.
pub(crate) fn candidates(trace: &Trace, found: ViolationGroups) -> Vec<(Candidate, Remark)> {
    let each = found.sorted().into_iter().flat_map(|(key, group)| {
        let remark = group.remark();
        let numbered = group.pairs.into_iter().zip(0..);
        numbered.map(move |(it, number)| (candidate(trace, &key, &it, number), remark))
    });
    each.collect()
}

fn candidate(trace: &Trace, key: &Key, pair: &Pair, number: u32) -> Candidate {
    let step = |at: usize| {
        let (thread, index) = pair.events[at];
        Step {
            event: trace.threads[usize::from(thread)].events[index as usize].id,
            site: SiteId(key.sites[at]),
            addr: pair.addr,
            access: key.kind.accesses()[at],
            region: (index.into(), index.into()),
        }
    };
    Candidate {
        kind: key.kind.candidate(),
        adjacent: false,
        steps: vec![step(0), step(1)],
        stuck: Vec::new(),
        scope: Scope::Single,
        instance: number,
    }
}
