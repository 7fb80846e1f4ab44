//! Combinations: several reads that decide one failure, none of which leads to it alone.
//!
//! Multi-variable bugs need two reads that see something else: `closing` is seen set while `dirty` still is. If
//! the [condition](crate::failure_condition) of a failure says that neither read alone makes the program fail, and that both together
//! do, both orders are one candidate.

use norn_model::{Access, Candidate, CandidateKind, Scope, SiteId, Step, Trace};
use smallvec::SmallVec;

use crate::{
    Danger,
    access::Touch,
    critical_read::CriticalReads,
    failure_condition::{ConditionResult, OtherValue, RecordedReads},
    outline::narrow,
    top_k::{EventPlace, Instance, Key, TopK},
};

/// Maximum number of reads that are compared with each other.
const MOST: usize = 128;

/// A read that can see something else, which alone does no harm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) danger: Danger,
    pub(crate) read: Touch,
    /// The write that the read comes after or before.
    pub(crate) write: Touch,
    /// Whether the read comes before the write.
    pub(crate) read_first: bool,
    /// The address of the instruction that reads.
    pub(crate) pc: u64,
    /// What it would see.
    pub(crate) value: Option<u64>,
}

impl Part {
    fn other_value(&self) -> OtherValue<'_> {
        OtherValue { touch: &self.read, pc: self.pc, value: self.value }
    }

    /// The position of the part in a deterministic order.
    fn key(&self) -> (usize, u16, u32, u16, u32) {
        let Part { danger, read, write, .. } = self;
        (danger.stake.failure, read.thread, read.index, write.thread, write.index)
    }
}

/// Finds combinations of two parts, and adds their candidates and dangers.
pub(crate) fn combine(
    mut parts: Vec<Part>,
    (critical, recorded): (&CriticalReads, &RecordedReads),
    (found, dangers): (&mut TopK, &mut Vec<Danger>),
) {
    parts.sort_by_key(Part::key);
    parts.truncate(MOST);
    for (at, one) in parts.iter().enumerate() {
        let Some(condition) = critical.condition(one.danger.stake.failure) else { continue };
        for other in &parts[at + 1..] {
            let together = one.danger.stake.failure == other.danger.stake.failure
                && one.read.thread == other.read.thread
                && one.read.index < other.read.index
                && !one.read.overlaps(&other.read);
            let values = [one.other_value(), other.other_value()];
            if together && recorded.result_of_several(condition, &values) == ConditionResult::Fails
            {
                add(one, other, found);
                let result = ConditionResult::Fails;
                let together = Some(other.danger.read);
                dangers.push(Danger { result, together, ..one.danger });
            }
        }
    }
}

/// Adds the orders of the events of two parts, the first of which reads first. Events of one thread stay in
/// their order.
fn add(one: &Part, other: &Part, found: &mut TopK) {
    let events = [(&one.read, one), (&one.write, one), (&other.read, other), (&other.write, other)];
    for order in orders() {
        let at = |number: usize| order.iter().position(|it| *it == number).unwrap_or(0);
        let follows = |part: usize| {
            let read_first = [one.read_first, other.read_first][part];
            (at(2 * part) < at(2 * part + 1)) == read_first
        };
        let in_order = order.iter().enumerate().all(|(position, first)| {
            order[position + 1..].iter().all(|second| {
                let (first, second) = (events[*first].0, events[*second].0);
                first.thread != second.thread || first.index < second.index
            })
        });
        if !follows(0) || !follows(1) || !in_order {
            continue;
        }
        let place = |it: &usize| {
            let (touch, part) = events[*it];
            let addr = touch.addr(&part.read);
            EventPlace { thread: touch.thread, index: touch.index, addr }
        };
        let key = Key {
            scope: Scope::Single,
            pattern: pattern(order, one.read_first),
            sites: order.iter().map(|it| events[*it].0.site).collect(),
            locked: 0,
        };
        let cost = order.iter().map(|it| u64::from(events[*it].0.index)).sum();
        let steps: SmallVec<[EventPlace; 4]> = order.iter().map(place).collect();
        found.add(key, Instance { ordered: false, apart: 0, cost, steps });
    }
}

/// All orders of four events.
fn orders() -> impl Iterator<Item = [usize; 4]> {
    (0..256_usize).filter_map(|number| {
        let order = [0, 2, 4, 6].map(|shift| number >> shift & 3);
        (0..4).all(|it| order.contains(&it)).then_some(order)
    })
}

/// Which events are reads, as bits, and whether the first read comes before its write.
fn pattern(order: [usize; 4], read_first: bool) -> u16 {
    let reads = order.iter().enumerate().filter(|it| it.1 % 2 == 0);
    let bits: u16 = reads.map(|it| 1 << it.0).sum();
    bits | u16::from(read_first) << 4
}

/// The candidate of a combination.
pub(crate) fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let overdue = key.pattern >> 4 & 1 == 1;
    let step = |(at, place): (usize, &EventPlace)| {
        let event = &trace.threads[usize::from(place.thread)].events[place.index as usize];
        let access = if key.pattern >> narrow(at) & 1 == 1 { Access::Read } else { Access::Write };
        let region = (event.id.index, event.id.index);
        Step { event: event.id, site: SiteId(event.site.0), addr: place.addr, access, region }
    };
    Candidate {
        kind: if overdue { CandidateKind::OverdueUse } else { CandidateKind::PrematureUse },
        adjacent: false,
        steps: instance.steps.iter().enumerate().map(step).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}
