//! Evaluates the conditions of failure sites with what a read would see in another order.
//!
//! After Zhang et al. (`ConSeq`, ASPLOS 2011, Section 7.2), who check the other value against the condition
//! before they report anything. The read in question sees the other value, and the other reads see what they saw in
//! the recorded run. Where we differ: later reads of the same memory may see the other value, too, so
//! both cases are evaluated, and a condition that holds in the recorded run decides nothing, since nothing
//! failed there.

use std::collections::BTreeSet;

use norn_model::{Condition, ReadValues, Trace};
use rustc_hash::FxHashMap;

use crate::{access::Touch, critical_read::CriticalReads, outline::narrow};

/// What the condition of a failure says if a read sees another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionResult {
    /// The program fails.
    Fails,
    /// The condition or a value is not known.
    Unknown,
    /// This failure does not happen.
    Passes,
}

/// What a read saw.
#[derive(Clone, Copy, Debug)]
struct Seen {
    index: u32,
    addr: u64,
    value: Option<u64>,
}

/// What the reads that conditions mention saw, by thread and address of the instruction, in program order.
#[derive(Debug, Default)]
pub(crate) struct RecordedReads(FxHashMap<(u16, u64), Vec<Seen>>);

impl RecordedReads {
    pub(crate) fn new(trace: &Trace, critical: &CriticalReads) -> RecordedReads {
        let mut all: FxHashMap<(u16, u64), Vec<Seen>> = FxHashMap::default();
        if !critical.has_conditions() {
            return RecordedReads(all);
        }
        for (thread, number) in trace.threads.iter().zip(0..) {
            for (event, index) in thread.events.iter().zip(0_usize..) {
                let Some(pc) = critical.condition_pc(event.site) else { continue };
                let Some(access) = event.op.access() else { continue };
                if let Some(read) = access.read {
                    let value = read.and_then(|it| u64::try_from(it).ok());
                    let seen = Seen { index: narrow(index), addr: access.addr, value };
                    all.entry((number, pc)).or_default().push(seen);
                }
            }
        }
        RecordedReads(all)
    }

    /// What the condition of a failure says if a read sees this value.
    pub(crate) fn result(&self, condition: &Condition, read: &OtherValue<'_>) -> ConditionResult {
        let recorded = Values { reads: self, around: read, others: &[], also: false };
        let others = std::slice::from_ref(read);
        if condition.evaluate(&recorded) == Some(true) {
            return ConditionResult::Unknown;
        }
        let alone = condition.evaluate(&Values { others, ..recorded });
        match (alone, condition.evaluate(&Values { others, also: true, ..recorded })) {
            (Some(true), _) | (_, Some(true)) => ConditionResult::Fails,
            (Some(false), Some(false)) => ConditionResult::Passes,
            _ => ConditionResult::Unknown,
        }
    }

    /// What the condition of a failure says if reads that belong together see these values.
    pub(crate) fn result_of_several(
        &self,
        condition: &Condition,
        others: &[OtherValue<'_>],
    ) -> ConditionResult {
        let Some(around) = others.first() else { return ConditionResult::Unknown };
        let is_same = |it: &OtherValue<'_>| {
            self.nearest(around, it.pc).is_some_and(|seen| seen.index == it.touch.index)
        };
        let recorded = Values { reads: self, around, others: &[], also: false };
        let now = Values { others, ..recorded };
        match (condition.evaluate(&recorded), condition.evaluate(&now)) {
            (Some(false), Some(true)) if others.iter().all(is_same) => ConditionResult::Fails,
            _ => ConditionResult::Unknown,
        }
    }

    /// Whether a read comes after the one in question, of the same memory and with the same value.
    fn follows(&self, read: &OtherValue<'_>, later: Seen) -> bool {
        let Some(own) = self.nearest(read, read.pc) else { return false };
        later.index > own.index && later.addr == own.addr && later.value == own.value
    }

    /// Of the reads of an instruction, the one that belongs to the same evaluation of a condition. Which of
    /// two instructions comes first is the same each time, so what they did first tells it.
    fn nearest(&self, read: &OtherValue<'_>, pc: u64) -> Option<Seen> {
        self.visits(read, pc).map(|(all, at)| all[at])
    }

    /// The reads of an instruction, and the index of the nearest one.
    fn visits(&self, read: &OtherValue<'_>, pc: u64) -> Option<(&[Seen], usize)> {
        let thread = read.touch.thread;
        let all = self.0.get(&(thread, pc))?;
        let own = self.0.get(&(thread, read.pc))?.first()?;
        let index = read.touch.index;
        let at = all.partition_point(|it| it.index < index);
        let is_earlier = all.first()?.index < own.index;
        let nearest = if is_earlier { at.checked_sub(1)? } else { at };
        (nearest < all.len()).then_some((all.as_slice(), nearest))
    }
}

/// What the reads of one evaluation of a condition see.
#[derive(Clone, Copy)]
struct Values<'a> {
    reads: &'a RecordedReads,
    /// The evaluation is the one to which this read belongs.
    around: &'a OtherValue<'a>,
    /// The reads that see something else than in the recorded run.
    others: &'a [OtherValue<'a>],
    /// Whether later reads of the same memory see it as well.
    also: bool,
}

impl ReadValues for Values<'_> {
    fn value(&self, pc: u64) -> Option<u64> {
        if let Some(other) = self.others.iter().find(|it| it.pc == pc) {
            return other.value;
        }
        let seen = self.reads.nearest(self.around, pc)?;
        let follows = |it: &&OtherValue<'_>| self.also && self.reads.follows(it, seen);
        self.others.iter().find(follows).map_or(seen.value, |it| it.value)
    }

    fn change(&self, pc: u64) -> Option<u64> {
        let recorded = self.reads.nearest(self.around, pc)?.value?;
        Some(self.value(pc)?.wrapping_sub(recorded))
    }

    fn previous(&self, pc: u64) -> Option<u64> {
        let (all, at) = self.reads.visits(self.around, pc)?;
        let before = all[..at].iter().rev().find(|it| it.addr == all[at].addr);
        before.map_or_else(|| self.value(pc), |it| it.value)
    }

    fn next(&self, pc: u64) -> Option<u64> {
        let (all, at) = self.reads.visits(self.around, pc)?;
        let after = all[at + 1..].iter().find(|it| it.addr == all[at].addr);
        after.map_or_else(|| self.value(pc), |it| it.value)
    }
}

/// A read that sees another value than in the recorded run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherValue<'a> {
    pub(crate) touch: &'a Touch,
    /// The address of its instruction.
    pub(crate) pc: u64,
    pub(crate) value: Option<u64>,
}

/// The addresses of the instructions whose reads a condition mentions.
pub(crate) fn mentioned(condition: &Condition) -> BTreeSet<u64> {
    let mut all = BTreeSet::new();
    condition.for_each_read(&mut |pc| {
        all.insert(pc);
    });
    all
}
