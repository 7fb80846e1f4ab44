//! Dangerous writes: what else the reads can see on which a visible failure depends.
//!
//! After Zhang et al. (`ConSeq`, ASPLOS 2011): the search begins at the places where a program can fail.
//! The reads that decide whether it does are [given](crate::CriticalReads); this analysis asks for each of
//! them which other write of the same memory it [can see](crate::visibility). A write of the same value is
//! not dangerous, and a loop is endless only if what it would see is not followed by what it waits for.
//! Where the [condition](crate::failure_condition) of the failure is known, it is evaluated with the other value.
//!
//! Most of these reads are also in order violations, atomicity violations or races, which other analyses find. There
//! the result is only a [danger](Danger): the hunt tries such candidates first. Candidates of its own are
//! those that no other analysis has: a write that is not the first one after the read, one that is not the
//! last one before the write that was seen, and one that comes after the write that was seen instead of
//! before it.

use norn_model::{
    Access, BugClass, Candidate, CandidateKind, Explanation, PotentialFailureKind, Scope, SiteId,
    Trace,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use super::{Analysis, AnalysisInfo, Found, KindInfo, Priority, single_step};
use crate::{
    Danger, Options,
    access::Touch,
    combination::{self, Part, combine},
    critical_read::{CriticalReads, Stake},
    dangerous_pair::{Instead, Variable, Way},
    facts::Facts,
    failure_condition::{ConditionResult, OtherValue, RecordedReads},
    reads_from::ReadsFrom,
    spin_order::SpinOrder,
    top_k::{EventPlace, Instance, Key, TopK},
    violation_groups::ViolationGroups,
    visibility::Visibility,
};

/// Finds writes that critical reads can see.
pub(super) struct DangerousWrite;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Order,
    text: Explanation {
        name: "dangerous-write",
        summary: "dangerous write: a read that decides a visible failure can see another write",
        meaning: "Where a program can fail visibly (an assertion, an error message, its output, an endless \
                  loop, a bad access), some shared reads decide whether it does. If another order of the \
                  threads lets such a read see another write, that order is tried before others.",
        example: "send(request);      // the answer may come before the next line\n\
                  pending = 1;        // overwrites the answer\n\
                  while (pending) ;   // never ends",
        advice: "Make the order of the two writes explicit, or make the check and what it protects one \
                 critical section.",
    },
    kinds: &[KindInfo {
        kind: CandidateKind::LateOverwrite,
        title: "order violation on {}: a write happened after the write that normally follows it",
        meaning: "Two threads write a variable in another order than in the recorded run, and a read that \
                  decides whether the program fails sees the write that is normally overwritten.",
        example: "recorded:  T1: write x   T2: write x   T1: read x\n\
                  predicted: T2: write x   T1: write x   T1: read x",
    }],
};

impl Analysis for DangerousWrite {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        if options.critical_reads.is_empty() {
            return;
        }
        let search = Search {
            facts,
            critical: &options.critical_reads,
            values: values(facts, &options.critical_reads),
            recorded: RecordedReads::new(facts.trace, &options.critical_reads),
            spins: SpinOrder::new(facts),
        };
        let empty = || Dangers::new(options.instances);
        let each = facts.variables().fold(empty, |mut found, touches| {
            search.variable(touches, &mut found);
            found
        });
        let Dangers { all, pairs, late, parts } = each.reduce(empty, Dangers::merge);
        found.dangers.extend(all);
        found.add_violations(pairs);
        let mut together = TopK::new(options.instances);
        let conditions = (search.critical, &search.recorded);
        combine(parts, conditions, (&mut together, &mut found.dangers));
        found.add(Priority::Matched, together.sorted(), |key, instance, number| {
            combination::candidate(facts.trace, key, instance, number)
        });
        found.add(Priority::Matched, late.sorted(), |key, instance, number| {
            candidate(facts.trace, key, instance, number)
        });
    }
}

/// By site: the values that critical reads saw.
fn values(facts: &Facts<'_>, critical: &CriticalReads) -> FxHashMap<u32, FxHashSet<u128>> {
    let mut values: FxHashMap<u32, FxHashSet<u128>> = FxHashMap::default();
    for it in facts.accesses.shared.iter().filter(|it| !critical.stakes(it.site).is_empty()) {
        let event = &facts.trace.threads[usize::from(it.thread)].events[it.index as usize];
        if let Some(value) = event.op.access().and_then(|it| it.read.flatten()) {
            values.entry(it.site).or_default().insert(value);
        }
    }
    values
}

/// The results of a search.
struct Dangers {
    all: FxHashSet<Danger>,
    /// Order violations that no other analysis finds.
    pairs: ViolationGroups,
    /// Writes that come after those that normally follow them.
    late: TopK,
    /// Reads that do no harm alone.
    parts: Vec<Part>,
}

impl Dangers {
    fn new(instances: usize) -> Dangers {
        let (pairs, late) = (ViolationGroups::new(instances), TopK::new(instances));
        Dangers { all: FxHashSet::default(), pairs, late, parts: Vec::new() }
    }

    fn merge(mut self, other: Dangers) -> Dangers {
        self.all.extend(other.all);
        self.parts.extend(other.parts);
        Dangers {
            parts: self.parts,
            all: self.all,
            pairs: self.pairs.merge(other.pairs),
            late: self.late.merge(other.late),
        }
    }
}

struct Search<'a, 't> {
    facts: &'a Facts<'t>,
    critical: &'a CriticalReads,
    /// By site: the values that critical reads saw.
    values: FxHashMap<u32, FxHashSet<u128>>,
    recorded: RecordedReads,
    spins: SpinOrder,
}

impl Search<'_, '_> {
    fn variable(&self, touches: &[Touch], found: &mut Dangers) {
        let is_shared =
            touches.first().zip(touches.last()).is_some_and(|(a, b)| a.thread != b.thread);
        let is_critical = |it: &Touch| !self.critical.stakes(it.site).is_empty();
        if !is_shared || !touches.iter().any(is_critical) {
            return;
        }
        let visibility = Visibility { rules: self.facts.rules(), spins: &self.spins };
        let variable = Variable::new(self.facts, visibility, touches);
        for row in variable.rows(|it| is_critical(it)) {
            for instead in variable.others(&row) {
                self.instead(&variable, &row, instead, found);
            }
        }
    }

    /// Adds what is at stake if a read sees something else, and how it can.
    fn instead(
        &self,
        variable: &Variable<'_, '_>,
        row: &ReadsFrom,
        instead: Instead,
        found: &mut Dangers,
    ) {
        let site = variable.touch(row.read).site;
        let value = variable.value_instead(row.read, instead);
        let known = value.is_some_and(|it| self.is_known(site, it));
        for stake in self.critical.stakes(site) {
            let is_loop = stake.kind == PotentialFailureKind::Loop;
            let result = self.result(variable.touch(row.read), *stake, value);
            let way = variable.way(row, instead, is_loop);
            let is_dangerous = is_dangerous(stake.kind, value, known, result);
            let Some(way) = way.filter(|_| is_dangerous) else { continue };
            // The earlier rounds of a loop have seen what makes it go on.
            let known = known && !is_loop;
            let danger = variable.danger(row, instead, &way, *stake);
            found.all.insert(Danger { result, is_known_value: known, ..danger });
            if result == ConditionResult::Passes {
                found.parts.extend(self.part(variable, row, &way, (danger, value)));
            } else if !variable.is_found_elsewhere(row, &way) {
                add(variable, row, &way, found);
            }
        }
    }

    /// A read that alone does no harm, if it comes before or after one write.
    fn part(
        &self,
        variable: &Variable<'_, '_>,
        row: &ReadsFrom,
        way: &Way,
        (danger, value): (Danger, Option<u128>),
    ) -> Option<Part> {
        let (Way::After(write) | Way::Before(write)) = *way else { return None };
        let read = *variable.touch(row.read);
        let read_first = matches!(way, Way::Before(_));
        let pc = self.critical.condition_pc(SiteId(read.site))?;
        let value = value.and_then(|it| u64::try_from(it).ok());
        let write = *variable.touch(write);
        let written = self.facts.timestamps().earliest(write.thread, write.index);
        Some(Part { danger, read, write, written, read_first, pc, value })
    }

    /// What the condition of a failure says if a read sees a value.
    fn result(&self, touch: &Touch, stake: Stake, value: Option<u128>) -> ConditionResult {
        let condition = self.critical.condition(stake.failure);
        let pc = self.critical.condition_pc(SiteId(touch.site));
        let Some((condition, pc)) = condition.zip(pc) else { return ConditionResult::Unknown };
        let value = value.and_then(|it| u64::try_from(it).ok());
        self.recorded.result(condition, &OtherValue { touch, pc, value })
    }

    fn is_known(&self, site: u32, value: u128) -> bool {
        self.values.get(&site).is_some_and(|it| it.contains(&value))
    }
}

/// Whether another value can be the reason of a failure. What a program prints is different only if the
/// value is; and of all values that pointers and divisors can have, the one that is known to be bad is
/// zero, which memory that was never written has, too. Programs free memory all the time; what matters is a
/// thread that would not have done it.
fn is_dangerous(
    kind: PotentialFailureKind,
    value: Option<u128>,
    known: bool,
    result: ConditionResult,
) -> bool {
    match kind {
        PotentialFailureKind::Free => result == ConditionResult::Fails,
        PotentialFailureKind::Access => value.unwrap_or(0) == 0 && !known,
        PotentialFailureKind::Output => !known,
        PotentialFailureKind::Assertion
        | PotentialFailureKind::ErrorMessage
        | PotentialFailureKind::Invariant
        | PotentialFailureKind::Loop => true,
    }
}

/// Adds a candidate.
fn add(variable: &Variable<'_, '_>, row: &ReadsFrom, way: &Way, found: &mut Dangers) {
    let read = variable.touch(row.read);
    match *way {
        Way::After(write) | Way::Before(write) => {
            let (kind, events) = variable.pair(row, way, write);
            found.pairs.add(kind, events, variable.how(row, write));
        }
        Way::Late { seen, other } => {
            let steps = [seen, other, row.read].map(|it| variable.touch(it));
            let place = |it: &Touch| {
                let addr = it.addr(read);
                EventPlace { thread: it.thread, index: it.index, addr }
            };
            let key = Key {
                scope: Scope::Single,
                pattern: 0,
                sites: steps.iter().map(|it| it.site).collect(),
                locked: 0,
            };
            let cost = steps.iter().map(|it| u64::from(it.index)).sum();
            let steps = smallvec![place(steps[0]), place(steps[1]), place(steps[2])];
            found.late.add(key, Instance { ordered: false, apart: 0, cost, steps });
        }
    }
}

fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let accesses = [Access::Write, Access::Write, Access::Read];
    let steps = instance.steps.iter().zip(accesses);
    Candidate {
        kind: CandidateKind::LateOverwrite,
        adjacent: false,
        steps: steps.map(|(it, access)| single_step(trace, it, access)).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

#[cfg(test)]
#[path = "dangerous_write_tests.rs"]
mod tests;
