//! Order violations: a read that can come before the write whose value it saw (an overdue use), or
//! after the write that followed it (a premature use).
//!
//! No pattern has to be written: the expected order is the recorded one. For each variable the
//! [reads-from table](crate::reads_from) is built, and each of its rows is
//! [checked](crate::interval), variables in parallel. Violations at the same sites are one finding,
//! with a count; those that look like a [benign order](crate::benign_order) come last.

use norn_model::{BugClass, CandidateKind, Explanation, Trace};
use rayon::prelude::*;

use super::{Analysis, AnalysisInfo, Found, KindInfo};
use crate::{
    Options,
    access::Touch,
    benign_order::{BenignOrder, VariableHistory},
    content::Contents,
    facts::Facts,
    interval::{Direction, Rules},
    order::Order,
    outline::Outline,
    reads_from::{ReadsFrom, reads_from},
    timestamp::Timestamps,
    violation_groups::{How, OrderKind, ViolationGroups},
};

/// Finds reads that can come too early or too late.
pub(super) struct OrderViolation;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Order,
    text: Explanation {
        name: "order",
        summary: "order violation: two events happen in another order than in the recorded run",
        meaning: "In the recorded run a read came after one write and before another. If nothing forces \
                  that order, the read may as well come earlier or later. Often the program is prepared \
                  for that: it waits for a flag, or takes from a queue what is there. Such candidates are \
                  tried last, and the report says why the order looks benign.",
        example: "pthread_create(&t, NULL, worker, NULL);   // worker reads config\n\
                  config = load();                          // usually earlier, but nothing says so",
        advice: "Make the order explicit: write before the thread is created, or let the reader wait for \
                 a condition, a semaphore or a join.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::OverdueUse,
            title: "order violation on {}: the read happened before the write it normally sees",
            meaning: "A thread reads a variable before another thread has written what it reads in the \
                      recorded run: it sees an older value, or memory that was never initialised.",
            example: "recorded:  T1: write x   T2: read x\npredicted: T2: read x    T1: write x",
        },
        KindInfo {
            kind: CandidateKind::PrematureUse,
            title: "order violation on {}: the read happened after a write it normally precedes",
            meaning: "A thread reads a variable after another thread has already overwritten what it reads \
                      in the recorded run.",
            example: "recorded:  T1: read x    T2: write x\npredicted: T2: write x   T1: read x",
        },
    ],
};

impl Analysis for OrderViolation {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let search = Search::new(facts);
        let empty = || ViolationGroups::new(options.instances);
        let each = facts.variables().fold(empty, |mut groups, touches| {
            search.variable(touches, &mut groups);
            groups
        });
        found.add_violations(each.reduce(empty, ViolationGroups::merge));
    }
}

/// A search for order violations.
#[derive(Clone, Copy, Debug)]
struct Search<'a> {
    trace: &'a Trace,
    outlines: &'a [Outline],
    rules: Rules<'a>,
    timestamps: &'a Timestamps<'a>,
    recorded_order: &'a Order,
}

impl<'a> Search<'a> {
    fn new(facts: &'a Facts<'_>) -> Self {
        let Facts { trace, sync, .. } = facts;
        let (rules, timestamps) = (facts.rules(), facts.timestamps());
        let recorded_order = facts.recorded_order();
        Search { trace, outlines: sync.outlines, rules, timestamps, recorded_order }
    }

    fn variable(&self, touches: &[Touch], found: &mut ViolationGroups) {
        if touches.first().zip(touches.last()).is_none_or(|(a, b)| a.thread == b.thread) {
            return;
        }
        let Search { trace, outlines, rules, timestamps, .. } = *self;
        let contents = &Contents::new(trace, touches);
        let history = VariableHistory { trace, outlines, sets: rules.sets, touches, contents };
        for row in reads_from(timestamps, touches, contents) {
            let asks = history.asks(row.read);
            self.overdue(&history, &row, asks, found);
            self.premature(&history, &row, asks, found);
        }
    }

    /// Whether the recorded run orders two accesses.
    fn is_ordered(&self, one: &Touch, other: &Touch) -> bool {
        self.recorded_order.is_ordered((one.thread, one.index), (other.thread, other.index))
    }

    /// The backward check: can the read come before the write that it saw?
    fn overdue(
        &self,
        history: &VariableHistory<'_>,
        row: &ReadsFrom,
        asks: Option<BenignOrder>,
        found: &mut ViolationGroups,
    ) {
        let read = &history.touches[row.read as usize];
        for seen in &row.seen {
            let write = &history.touches[seen.write as usize];
            if self.rules.interval(write, read, Direction::Backward).possible {
                let both = || history.benign_order(row.read, seen.write, seen.older);
                let how = How {
                    early: seen.older.is_none(),
                    expected: asks.or_else(both),
                    ordered: self.is_ordered(read, write),
                };
                found.add(OrderKind::Overdue, [read, write], how);
            }
        }
    }

    /// The forward check: can the write that followed the read come before it?
    fn premature(
        &self,
        history: &VariableHistory<'_>,
        row: &ReadsFrom,
        asks: Option<BenignOrder>,
        found: &mut ViolationGroups,
    ) {
        let read = &history.touches[row.read as usize];
        for &next in &row.next {
            let write = &history.touches[next as usize];
            if self.rules.interval(read, write, Direction::Forward).possible {
                let both = || history.benign_order(row.read, next, Some(next));
                let how = How {
                    early: false,
                    expected: asks.or_else(both),
                    ordered: self.is_ordered(read, write),
                };
                found.add(OrderKind::Premature, [write, read], how);
            }
        }
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
