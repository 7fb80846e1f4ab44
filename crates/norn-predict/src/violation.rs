//! Order violations: a read that can come before the write that it was to see (an overdue use), or
//! after the write that was to follow it (a premature one).
//!
//! No pattern has to be written: the expected order is what the run did. For each variable the
//! [use table](crate::usage) is made, and each of its rows is [checked](crate::interval), variables in
//! parallel. Violations at the same places are one finding, with a count; those that
//! look like an [expected hand-off](crate::handoff) come last.

use std::borrow::Cow;

use norn_model::{Access, Candidate, CandidateKind, Scope, SiteId, Step, Trace};
use rayon::prelude::*;

use crate::{
    access::Touch,
    content::Contents,
    group::{Groups, How, Key, Pair},
    handoff::{HandOff, Scenery},
    interval::{Rules, Way},
    moment::Moments,
    outline::Outline,
    usage::{Use, uses},
};

/// How an order is violated; what comes first is the likeliest to do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The kind of a candidate that violates it.
    fn candidate(self) -> CandidateKind {
        match self {
            Kind::Overdue => CandidateKind::OverdueUse,
            Kind::Premature => CandidateKind::PrematureUse,
            Kind::AfterDestroy => CandidateKind::UseAfterDestroy,
            Kind::BeforeInit => CandidateKind::UseBeforeInit,
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

/// The candidates and what is known of them, the likeliest to do harm first.
pub(crate) fn candidates(trace: &Trace, found: Groups) -> Vec<(Candidate, Remark)> {
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

/// A search for order violations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) outlines: &'a [Outline],
    pub(crate) rules: Rules<'a>,
    pub(crate) moments: &'a Moments<'a>,
}

impl Search<'_> {
    /// Searches variables, each with its accesses by thread and in each thread's order, and keeps so
    /// many instances of each finding.
    pub(crate) fn variables<'t>(
        &self,
        variables: impl ParallelIterator<Item = Cow<'t, [Touch]>>,
        instances: usize,
    ) -> Groups {
        let empty = || Groups::new(instances);
        let search = |mut found, touches: Cow<'t, [Touch]>| {
            self.variable(&touches, &mut found);
            found
        };
        variables.fold(empty, search).reduce(empty, Groups::merge)
    }

    fn variable(&self, touches: &[Touch], found: &mut Groups) {
        if touches.first().zip(touches.last()).is_none_or(|(a, b)| a.thread == b.thread) {
            return;
        }
        let Search { trace, outlines, rules, moments } = *self;
        let contents = &Contents::new(trace, touches);
        let scenery = Scenery { trace, outlines, sets: rules.sets, touches, contents };
        for row in uses(moments, touches, contents) {
            let asks = scenery.asks(row.read);
            self.overdue(&scenery, &row, asks, found);
            self.premature(&scenery, &row, asks, found);
        }
    }

    /// The backward check: can the read come before what it saw?
    fn overdue(&self, scenery: &Scenery<'_>, row: &Use, asks: Option<HandOff>, found: &mut Groups) {
        let read = &scenery.touches[row.read as usize];
        for seen in &row.seen {
            let write = &scenery.touches[seen.write as usize];
            if self.rules.interval(write, read, Way::Backward).possible {
                let both = || scenery.hand_off(row.read, seen.write, seen.older);
                let how = How { early: seen.older.is_none(), expected: asks.or_else(both) };
                found.add(Kind::Overdue, [read, write], how);
            }
        }
    }

    /// The forward check: can what follows the read come before it?
    fn premature(
        &self,
        scenery: &Scenery<'_>,
        row: &Use,
        asks: Option<HandOff>,
        found: &mut Groups,
    ) {
        let read = &scenery.touches[row.read as usize];
        for &next in &row.next {
            let write = &scenery.touches[next as usize];
            if self.rules.interval(read, write, Way::Forward).possible {
                let both = || scenery.hand_off(row.read, next, Some(next));
                let how = How { early: false, expected: asks.or_else(both) };
                found.add(Kind::Premature, [write, read], how);
            }
        }
    }
}

#[cfg(test)]
mod tests;
