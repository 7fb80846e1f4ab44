//! Order violations: a read that can come before the write that it was to see (an overdue use), or
//! after the write that was to follow it (a premature one).
//!
//! No pattern has to be written: the expected order is what the run did. For each variable the
//! [use table](crate::usage) is made, and each of its rows is [checked](crate::interval), variables in
//! parallel. Violations at the same places are one finding, with a count; those that
//! look like an [expected hand-off](crate::handoff) come last.

use norn_model::{Access, Anomaly, Candidate, Scope, SiteId, Step, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

use crate::{
    access::Touch,
    handoff::{HandOff, Scenery},
    interval::{Rules, Way},
    keep::{Instance, Kept, Key, Place},
    moment::Moments,
    usage::{Use, uses},
};

/// How an order is violated. The number is its rank: what comes first is the likeliest to do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A lock or the like is used after it was destroyed.
    AfterDestroy,
    /// A read comes before the write that it was to see.
    Overdue,
    /// A read comes after the write that was to follow it.
    Premature,
    /// A lock or the like is used before it is initialised.
    BeforeInit,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::AfterDestroy, Kind::Overdue, Kind::Premature, Kind::BeforeInit];

    fn name(self) -> &'static str {
        match self {
            Kind::Overdue => "overdue-use",
            Kind::Premature => "premature-use",
            Kind::AfterDestroy => "use-after-destroy",
            Kind::BeforeInit => "use-before-init",
        }
    }

    /// What its two events do, in their order.
    fn accesses(self) -> [Access; 2] {
        match self {
            Kind::Overdue => [Access::Read, Access::Write],
            Kind::Premature => [Access::Write, Access::Read],
            Kind::AfterDestroy => [Access::Destroy, Access::Use],
            Kind::BeforeInit => [Access::Use, Access::Init],
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
    pub expected: Option<HandOff>,
}

/// Violations with the same places.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: u64,
    early: u64,
    /// How many of them look like a hand-off, by its number.
    expected: [u64; HandOff::ALL.len()],
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.all += other.all;
        self.early += other.early;
        self.expected.iter_mut().zip(other.expected).for_each(|(it, more)| *it += more);
    }

    /// How a program hands something on is a matter of its code: one that shows it is enough. But
    /// values must always be the same.
    fn remark(self) -> Remark {
        let always = |it: &HandOff, count: u64| *it != HandOff::SameValue || count == self.all;
        let mut hand_offs = HandOff::ALL.into_iter().zip(self.expected);
        let expected = hand_offs.find(|(it, count)| *count > 0 && always(it, *count));
        Remark { count: self.all, early: self.early, expected: expected.map(|it| it.0) }
    }
}

/// What is known of one violation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// It reads what nobody has written yet.
    early: bool,
    expected: Option<HandOff>,
}

impl How {
    /// Of several violations at the same places, those that seem meant are tried last, and before
    /// them those that only see an older value.
    fn rank(self) -> u64 {
        2 * u64::from(self.expected.is_some()) + u64::from(!self.early)
    }
}

/// The violations of a trace.
#[derive(Debug)]
pub(crate) struct Violations {
    kept: Kept,
    tallies: FxHashMap<Key, Tally>,
}

impl Violations {
    pub(crate) fn new(instances: usize) -> Self {
        Violations { kept: Kept::new(instances), tallies: FxHashMap::default() }
    }

    pub(crate) fn add(&mut self, kind: Kind, [first, second]: [&Touch; 2], how: How) {
        let key = Key {
            scope: Scope::Single,
            pattern: kind as u16,
            sites: smallvec![first.site, second.site],
            locked: u16::from(first.set != 0) | u16::from(second.set != 0) << 1,
        };
        let mut tally = Tally { all: 1, early: u64::from(how.early), ..Tally::default() };
        if let Some(at) = HandOff::ALL.iter().position(|it| Some(*it) == how.expected) {
            tally.expected[at] = 1;
        }
        self.tallies.entry(key.clone()).or_default().add(tally);
        let place = |it: &Touch, other: &Touch| Place {
            thread: it.thread,
            index: it.index,
            addr: it.addr(other),
        };
        let apart = how.rank();
        let cost = u64::from(first.index) + u64::from(second.index);
        let steps = smallvec![place(first, second), place(second, first)];
        self.kept.add(key, Instance { apart, cost, steps });
    }

    pub(crate) fn merge(mut self, other: Violations) -> Violations {
        #[expect(clippy::iter_over_hash_type, reason = "the result is the same in any order")]
        for (key, tally) in other.tallies {
            self.tallies.entry(key).or_default().add(tally);
        }
        Violations { kept: self.kept.merge(other.kept), tallies: self.tallies }
    }

    /// The candidates and what is known of them, the likeliest to do harm first.
    pub(crate) fn candidates(self, trace: &Trace) -> Vec<(Candidate, Remark)> {
        let remark = |key: &Key| self.tallies.get(key).copied().unwrap_or_default().remark();
        let mut all: Vec<_> =
            self.kept.sorted().into_iter().map(|(key, found)| (remark(&key), key, found)).collect();
        all.sort_by_key(|(remark, key, _)| (remark.expected, remark.early == 0, key.pattern));
        let each = all.into_iter().flat_map(|(remark, key, found)| {
            let numbered = found.into_iter().zip(0..);
            numbered.map(move |(it, number)| (candidate(trace, &key, &it, number), remark))
        });
        each.collect()
    }
}

fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let kind = Kind::ALL[usize::from(key.pattern)];
    let step = |at: usize| {
        let Place { thread, index, addr } = instance.steps[at];
        Step {
            event: trace.threads[usize::from(thread)].events[index as usize].id,
            site: SiteId(key.sites[at]),
            addr,
            access: kind.accesses()[at],
            region: (index.into(), index.into()),
        }
    };
    Candidate {
        class: Anomaly::Order,
        pattern: kind.name().to_owned(),
        adjacent: false,
        steps: (0..instance.steps.len()).map(step).collect(),
        scope: key.scope,
        instance: number,
    }
}

/// A search for order violations.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) rules: Rules<'a>,
    pub(crate) moments: &'a Moments<'a>,
    pub(crate) instances: usize,
}

impl Search<'_> {
    /// Searches variables, each with its accesses by thread and in each thread's order.
    pub(crate) fn variables<'t>(
        &self,
        variables: impl ParallelIterator<Item = std::borrow::Cow<'t, [Touch]>>,
    ) -> Violations {
        let empty = || Violations::new(self.instances);
        let search = |mut found, touches: std::borrow::Cow<'t, [Touch]>| {
            self.variable(&touches, &mut found);
            found
        };
        variables.fold(empty, search).reduce(empty, Violations::merge)
    }

    fn variable(&self, touches: &[Touch], found: &mut Violations) {
        if touches.first().zip(touches.last()).is_none_or(|(a, b)| a.thread == b.thread) {
            return;
        }
        let scenery = Scenery { trace: self.trace, sets: self.rules.sets, touches };
        for row in uses(self.trace, self.moments, touches) {
            self.overdue(&scenery, &row, found);
            self.premature(&scenery, &row, found);
        }
    }

    /// The backward check: can the read come before what it saw?
    fn overdue(&self, scenery: &Scenery<'_>, row: &Use, found: &mut Violations) {
        let read = &scenery.touches[row.read as usize];
        for seen in &row.seen {
            let write = &scenery.touches[seen.write as usize];
            if self.rules.interval(write, read, Way::Backward).possible {
                let expected = scenery.hand_off(row.read, seen.write, seen.older);
                let how = How { early: seen.older.is_none(), expected };
                found.add(Kind::Overdue, [read, write], how);
            }
        }
    }

    /// The forward check: can what follows the read come before it?
    fn premature(&self, scenery: &Scenery<'_>, row: &Use, found: &mut Violations) {
        let read = &scenery.touches[row.read as usize];
        for &next in &row.next {
            let write = &scenery.touches[next as usize];
            if self.rules.interval(read, write, Way::Forward).possible {
                let expected = scenery.hand_off(row.read, next, Some(next));
                found.add(Kind::Premature, [write, read], How { early: false, expected });
            }
        }
    }
}

#[cfg(test)]
mod tests;
