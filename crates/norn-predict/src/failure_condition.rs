//! Evaluates the conditions of failure sites with what a read would see in another order.
//!
//! After Zhang et al. (`ConSeq`, ASPLOS 2011, Section 7.2), who check the other value against the condition
//! before they report anything. The read in question sees the other value, and the other reads see what they saw in
//! the recorded run. Where we differ: later reads of the same memory may see the other value, too, so
//! both cases are evaluated, and a condition that holds in the recorded run decides nothing, since nothing
//! failed there.

use std::collections::BTreeSet;

use norn_model::{Condition, Trace};
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
        let recorded = |pc: u64| self.nearest(read, pc)?.value;
        let at = |pc: u64| if pc == read.pc { read.value } else { recorded(pc) };
        // A later read of the same memory may see the other value as well.
        let also = |pc: u64| match self.nearest(read, pc) {
            Some(it) if pc != read.pc && self.follows(read, it) => read.value,
            _ => at(pc),
        };
        if condition.evaluate(&recorded) == Some(true) {
            return ConditionResult::Unknown;
        }
        match (condition.evaluate(&at), condition.evaluate(&also)) {
            (Some(true), _) | (_, Some(true)) => ConditionResult::Fails,
            (Some(false), Some(false)) => ConditionResult::Passes,
            _ => ConditionResult::Unknown,
        }
    }

    /// What the condition of a failure says if two reads that belong together see these values.
    pub(crate) fn result_of_two(
        &self,
        condition: &Condition,
        [one, other]: [OtherValue<'_>; 2],
    ) -> ConditionResult {
        let is_same = self.nearest(&one, other.pc).is_some_and(|it| it.index == other.touch.index);
        let recorded = |pc: u64| self.nearest(&one, pc)?.value;
        let at = |pc: u64| match pc {
            pc if pc == one.pc => one.value,
            pc if pc == other.pc => other.value,
            pc => recorded(pc),
        };
        match (condition.evaluate(&recorded), condition.evaluate(&at)) {
            (Some(false), Some(true)) if is_same => ConditionResult::Fails,
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
        let thread = read.touch.thread;
        let all = self.0.get(&(thread, pc))?;
        let own = self.0.get(&(thread, read.pc))?.first()?;
        let index = read.touch.index;
        let at = all.partition_point(|it| it.index < index);
        let is_earlier = all.first()?.index < own.index;
        if is_earlier { all[..at].last().copied() } else { all.get(at).copied() }
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
