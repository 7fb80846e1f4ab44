//! Groups order violations at the same sites: their number, a remark, and those that are the
//! cheapest to try.
//!
//! Adding and merging give the same result in any order. There can be many millions, so a violation
//! is only stored if it is among the cheapest.

use norn_model::{Access, Candidate, CandidateKind, Scope, SiteId, Step, Trace};
use rustc_hash::FxHashMap;

use crate::{access::Touch, benign_order::BenignOrder};

/// The kinds of order violations, the most harmful first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum OrderKind {
    /// A synchronisation object is used after it was destroyed.
    AfterDestroy,
    /// A descriptor is used after it was closed.
    AfterClose,
    /// A read comes before the write whose value it saw.
    Overdue,
    /// A read comes after the write that followed it.
    Premature,
    /// A synchronisation object is used before it is initialised.
    BeforeInit,
}

impl OrderKind {
    /// The kind of its candidates.
    fn candidate(self) -> CandidateKind {
        match self {
            OrderKind::Overdue => CandidateKind::OverdueUse,
            OrderKind::Premature => CandidateKind::PrematureUse,
            OrderKind::AfterDestroy => CandidateKind::UseAfterDestroy,
            OrderKind::AfterClose => CandidateKind::UseAfterClose,
            OrderKind::BeforeInit => CandidateKind::UseBeforeInit,
        }
    }

    /// The accesses of its two events, in order.
    fn accesses(self) -> [Access; 2] {
        match self {
            OrderKind::Overdue => [Access::Read, Access::Write],
            OrderKind::Premature => [Access::Write, Access::Read],
            OrderKind::AfterDestroy | OrderKind::AfterClose => [Access::Destroy, Access::Use],
            OrderKind::BeforeInit => [Access::Use, Access::Init],
        }
    }
}

/// A remark about violations with the same sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Number of violations in the trace.
    pub count: u64,
    /// Number of those that read the variable before its first write.
    pub early: u64,
    /// Why the order seems benign.
    pub expected: Option<BenignOrder>,
}

impl Remark {
    /// The remark about both groups together. A reason must hold for all.
    #[must_use]
    pub fn join(self, other: Remark) -> Remark {
        Remark {
            count: self.count + other.count,
            early: self.early + other.early,
            expected: self.expected.filter(|it| other.expected == Some(*it)),
        }
    }
}

/// Violations with equal keys are one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) kind: OrderKind,
    pub(crate) sites: [u32; 2],
    /// Which of the two events hold a lock.
    locked: [bool; 2],
}

/// One violation: two events, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    /// Violations that seem benign are tried last, and before them those that only see an older
    /// value.
    rank: u8,
    /// Whether the recorded run orders the two events: then synchronisation has to be moved.
    ordered: bool,
    /// Number of events up to the last one: replaying less is cheaper.
    cost: u64,
    /// Threads, numbered from 0, and indices.
    pub(crate) events: [(u16, u32); 2],
    /// The first byte that they share.
    pub(crate) addr: u64,
}

/// Properties of one violation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// It reads the variable before its first write.
    pub(crate) early: bool,
    /// Why it seems benign.
    pub(crate) expected: Option<BenignOrder>,
    /// The recorded run orders the two events.
    pub(crate) ordered: bool,
}

/// Violations at the same sites.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    all: u64,
    early: u64,
    /// By reason: the number of violations that seem benign.
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

    /// An idiom is a property of the code: one violation that shows it is enough. But values must
    /// be the same in all.
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
    /// Maximum number of pairs per group.
    most: usize,
    all: FxHashMap<Key, Group>,
}

impl ViolationGroups {
    pub(crate) fn new(most: usize) -> Self {
        ViolationGroups { most: most.max(1), all: FxHashMap::default() }
    }

    /// Adds a violation: two events in order.
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
            ordered: how.ordered,
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

    /// All groups, the most harmful first.
    pub(crate) fn sorted(self) -> Vec<(Key, Group)> {
        let mut all: Vec<_> = self.all.into_iter().collect();
        all.sort_unstable_by_key(|(key, group)| {
            let remark = group.remark();
            (remark.expected, remark.early == 0, key.kind, group.pairs.first().copied(), *key)
        });
        all
    }
}

/// The candidates with remarks, the most harmful first.
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
