//! Combinations: several reads that decide one failure, of which fewer do not lead to it.
//!
//! Multi-variable bugs need more than one read that sees something else: `closing` is seen set while `dirty` still is.
//! The [condition](crate::failure_condition) of a failure says with which reads the program fails. If one read alone
//! is not enough, the [smallest sets](crate::minimal_sets) of them are candidates, with the writes that they see or
//! miss. Several orders of these events let the reads see the same; those in which few writes fall between the
//! reads come first, since the reads are often in one critical section.

use norn_model::{Access, Candidate, CandidateKind, Scope, SiteId, Step, Trace};
use smallvec::SmallVec;

use crate::{
    Danger,
    access::Touch,
    critical_read::{CriticalReads, MOST_TOGETHER},
    failure_condition::{ConditionResult, OtherValue, RecordedReads, mentioned},
    linear_order::{LinearOrder, linear_orders},
    minimal_sets::MinimalSets,
    outline::narrow,
    top_k::{EventPlace, Instance, Key, TopK},
};

/// Maximum number of reads that are compared with each other.
const MOST: usize = 128;
/// Maximum number of sets of reads that are compared with the condition of one failure.
const MOST_SETS: usize = 50_000;
/// Maximum number of orders of the events of one set. Two reads and their writes have no more.
const MOST_ORDERS: usize = 5;
/// The bit of a pattern that says whether the first read comes before its write.
const READ_FIRST: u32 = 15;

/// A read that can see something else, which alone does no harm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) danger: Danger,
    pub(crate) read: Touch,
    /// The write that the read comes after or before.
    pub(crate) write: Touch,
    /// The timestamp of the write in the recorded run.
    pub(crate) written: u64,
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

    /// The failure and the thread of the read. They are the same for all parts of a combination.
    fn group(&self) -> (usize, u16) {
        (self.danger.stake.failure, self.read.thread)
    }

    /// The position of the part in a deterministic order.
    fn key(&self) -> (usize, u16, u32, u16, u32) {
        let (failure, thread) = self.group();
        (failure, thread, self.read.index, self.write.thread, self.write.index)
    }

    /// Whether two parts, the first of which reads first, can be in one combination.
    fn agrees(&self, other: &Part) -> bool {
        self.read.index < other.read.index && !self.read.overlaps(&other.read)
    }
}

/// Finds combinations of parts, and adds their candidates and dangers.
pub(crate) fn combine(
    mut parts: Vec<Part>,
    (critical, recorded): (&CriticalReads, &RecordedReads),
    (found, dangers): (&mut TopK, &mut Vec<Danger>),
) {
    parts.sort_by_key(Part::key);
    parts.truncate(MOST);
    for parts in parts.chunk_by(|one, other| one.group() == other.group()) {
        let Some(condition) = critical.condition(parts[0].danger.stake.failure) else { continue };
        let pcs = mentioned(condition);
        let parts: Vec<_> = parts.iter().filter(|it| pcs.contains(&it.pc)).collect();
        let fails = |set: &[usize]| {
            let values: SmallVec<[_; MOST_TOGETHER]> =
                set.iter().map(|it| parts[*it].other_value()).collect();
            recorded.result_of_several(condition, &values) == ConditionResult::Fails
        };
        let sets = MinimalSets {
            count: parts.len(),
            most: MOST_TOGETHER,
            budget: MOST_SETS,
            agree: &|one, other| parts[one].agrees(parts[other]),
            has: &fails,
        };
        for set in sets.find() {
            let set: SmallVec<[_; MOST_TOGETHER]> = set.iter().map(|it| parts[*it]).collect();
            dangers.push(danger(&set));
            add(&set, found);
        }
    }
}

/// What is at stake if the reads of a combination see something else.
fn danger(set: &[&Part]) -> Danger {
    let mut together = [None; MOST_TOGETHER - 1];
    for (place, part) in together.iter_mut().zip(&set[1..]) {
        *place = Some(part.danger.sight());
    }
    Danger { result: ConditionResult::Fails, together, ..set[0].danger }
}

/// Whether an event of a combination is a read.
fn is_read(event: usize) -> bool {
    event.is_multiple_of(2)
}

/// Adds orders of the events of a combination. Event `2n` is the read of part `n`, and the next one its write.
fn add(set: &[&Part], found: &mut TopK) {
    let touch = |it: usize| if is_read(it) { &set[it / 2].read } else { &set[it / 2].write };
    let precedes = |one: usize, other: usize| {
        let (first, second) = (touch(one), touch(other));
        let is_own = one / 2 == other / 2 && one != other;
        let reads_first = set[one / 2].read_first == is_read(one);
        // One event that is the write of two parts has no place in an order.
        let in_thread = first.thread == second.thread && first.index <= second.index;
        is_own && reads_first || one != other && in_thread
    };
    let mut orders = linear_orders(2 * set.len(), &precedes);
    orders.sort_by_cached_key(|it| (writes_between(it), exchanged(set, it)));
    for order in orders.iter().take(MOST_ORDERS) {
        let place = |it: &usize| {
            let touch = touch(*it);
            let addr = touch.addr(&set[it / 2].read);
            EventPlace { thread: touch.thread, index: touch.index, addr }
        };
        let key = Key {
            scope: Scope::Single,
            pattern: pattern(order, set[0].read_first),
            sites: order.iter().map(|it| touch(*it).site).collect(),
            locked: 0,
        };
        let cost = order.iter().map(|it| u64::from(touch(*it).index)).sum();
        let steps: SmallVec<[EventPlace; 4]> = order.iter().map(place).collect();
        found.add(key, Instance { ordered: false, apart: 0, cost, steps });
    }
}

/// Number of writes that fall between the first and the last read of an order.
fn writes_between(order: &LinearOrder) -> usize {
    let read = |it: &usize| is_read(*it);
    let ends = order.iter().position(read).zip(order.iter().rposition(read));
    ends.map_or(0, |(first, last)| order[first..last].iter().filter(|it| !read(it)).count())
}

/// Number of pairs of writes that an order exchanges.
fn exchanged(set: &[&Part], order: &LinearOrder) -> usize {
    let writes = order.iter().filter(|it| !is_read(**it));
    let times: SmallVec<[u64; MOST_TOGETHER]> = writes.map(|it| set[it / 2].written).collect();
    let later = |(at, time): (usize, &u64)| times[at..].iter().filter(|it| *it < time).count();
    times.iter().enumerate().map(later).sum()
}

/// Which events are reads, as bits, and whether the first read comes before its write.
fn pattern(order: &LinearOrder, read_first: bool) -> u16 {
    let reads = order.iter().enumerate().filter(|it| is_read(*it.1));
    let bits: u16 = reads.map(|it| 1 << it.0).sum();
    bits | u16::from(read_first) << READ_FIRST
}

/// The candidate of a combination.
pub(crate) fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let overdue = key.pattern >> READ_FIRST & 1 == 1;
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
