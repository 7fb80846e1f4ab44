//! What a clip claims to show besides the consequence of its run: events of some threads in an order
//! that is a bug even if the run does not fail, such as the two accesses of a data race.
//!
//! The trace of a replayed run decides whether the claim is true there. Events are found by thread,
//! operation and place, and by the number of earlier visits of the thread to that place, so that a
//! claim stays valid in another build.

use std::collections::BTreeMap;

use norn_model::{
    BlockEffect, BugClass, Class, Effect, Event, EventId, MemoryAccess, Op, Point, SiteId,
    ThreadName, Trace, Visit,
    memory_model::{Edges, HappensBefore},
};
use norn_trace::EventIndex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    SymbolizedTrace,
    label::Labels,
    points::{look_up, plain},
};

/// Events of a run that are a bug in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The class of the bug.
    pub class: BugClass,
    /// The headline of the finding.
    pub title: String,
    /// Whether no other event is between two of them. The accesses of a data race that are not
    /// adjacent must be unordered by happens-before.
    pub adjacent: bool,
    /// The events, in their order.
    pub events: Vec<ClaimedEvent>,
}

/// An event of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimedEvent {
    /// The thread.
    pub thread: ThreadName,
    /// The operation, its place, and which of the thread's visits to it, from 1.
    #[serde(serialize_with = "print", deserialize_with = "parse")]
    pub at: Visit,
}

fn print<S: Serializer>(visit: &Visit, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(visit)
}

fn parse<'de, D: Deserializer<'de>>(from: D) -> Result<Visit, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

impl Claim {
    /// A claim about events of a run, which are given in their order. `None` if the run does not
    /// have them, or does not have them like that.
    pub fn new(
        (class, title): (BugClass, String),
        adjacent: bool,
        symbolized: &SymbolizedTrace,
        events: &[EventId],
    ) -> Option<Claim> {
        let mut places = Places::new(symbolized);
        let claimed = |id: &EventId| {
            let at = places.visit(*id)?;
            Some(ClaimedEvent { thread: symbolized.thread(id.thread), at })
        };
        let events = events.iter().map(claimed).collect::<Option<Vec<_>>>()?;
        let claim = Claim { class, title, adjacent, events };
        claim.holds(symbolized).then_some(claim)
    }

    /// Whether it is harmful by itself, whatever the run leads to: a data race is undefined
    /// behaviour, and a property is what the user demands.
    pub fn is_harmful(&self) -> bool {
        matches!(self.class, BugClass::Race | BugClass::Property)
    }

    /// Whether it is true of a run.
    pub fn holds(&self, symbolized: &SymbolizedTrace) -> bool {
        let trace = &symbolized.trace;
        let mut places = Places::new(symbolized);
        let found = |it: &ClaimedEvent| places.find(it);
        let Some(events) = self.events.iter().map(found).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let positions = positions(trace.merged(), &events);
        let in_order = positions.is_sorted_by(|one, other| one < other);
        let adjacent = positions.windows(2).all(|it| it[0] + 1 == it[1]);
        in_order
            && (!self.adjacent || adjacent)
            && (self.class != BugClass::Race || {
                let pairs = || events.windows(2);
                let size = |at, block| block_size(trace.merged(), at, block);
                pairs().all(|it| conflict(&size, &it[0], &it[1]))
                    && (self.adjacent || pairs().all(|it| are_unordered(trace, it[0].id, it[1].id)))
            })
    }
}

/// The positions of events in the order of the whole run.
fn positions(run: impl Iterator<Item = Event>, events: &[Event]) -> Vec<usize> {
    let mut found = vec![usize::MAX; events.len()];
    let mut left = events.len();
    for (position, event) in run.enumerate() {
        if let Some(at) = events.iter().position(|it| it.id == event.id) {
            found[at] = position;
            left -= 1;
        }
        if left == 0 {
            break;
        }
    }
    found
}

/// Whether happens-before does not order two events of a run. It depends on everything but plain
/// accesses.
fn are_unordered(run: &norn_trace::Trace, one: EventId, other: EventId) -> bool {
    let plain = |it: &Event| matches!(it.op, Op::Read { .. } | Op::Write { .. });
    let needed = move |it: &Event| !plain(it) || it.id == one || it.id == other;
    let Some(loaded) = run.select(u64::MAX, |_, _| needed) else { return false };
    let ids = loaded.positions.loaded(one).zip(loaded.positions.loaded(other));
    ids.is_some_and(|(one, other)| is_unordered(&loaded.trace, one, other))
}

fn is_unordered(trace: &Trace, one: EventId, other: EventId) -> bool {
    let order = HappensBefore::new(trace, Edges::CXX20);
    !order.is_before(one, other) && !order.is_before(other, one)
}

/// Whether two events access common memory, one of them writes, and not both are atomic. To free a
/// block is to write all of it; `size` gives the size of a block when an event happens.
fn conflict(size: &BlockSize<'_>, one: &Event, other: &Event) -> bool {
    let (Some(one), Some(other)) = (Touched::by(size, one), Touched::by(size, other)) else {
        return false;
    };
    let common = one.addr < other.addr.saturating_add(other.size)
        && other.addr < one.addr.saturating_add(one.size);
    common && (one.writes || other.writes) && !(one.atomic && other.atomic)
}

/// The size of the block at an address when an event happens.
type BlockSize<'a> = dyn Fn(EventId, u64) -> Option<u64> + 'a;

/// The memory that an event accesses.
struct Touched {
    addr: u64,
    size: u64,
    writes: bool,
    atomic: bool,
}

impl Touched {
    fn by(size: &BlockSize<'_>, event: &Event) -> Option<Touched> {
        match event.op.effect() {
            Effect::Access(MemoryAccess { addr, size, write, atomic, .. }) => {
                Some(Touched { addr, size, writes: write.is_some(), atomic })
            }
            Effect::Block(BlockEffect::Freed { addr }) => {
                let size = size(event.id, addr)?;
                Some(Touched { addr, size, writes: true, atomic: false })
            }
            _ => None,
        }
    }
}

/// The size of the block at an address when an event happens.
fn block_size(run: impl Iterator<Item = Event>, at: EventId, block: u64) -> Option<u64> {
    let before = run.take_while(|it| it.id != at);
    let sizes = before.filter_map(|it| match it.op.effect() {
        Effect::Block(BlockEffect::Allocated { addr, size }) if addr == block => Some(size),
        _ => None,
    });
    sizes.last()
}

/// The places of a run's events, each looked up once.
pub(crate) struct Places<'a> {
    symbolized: &'a SymbolizedTrace,
    labels: Labels<'a>,
    known: BTreeMap<SiteId, Point>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(symbolized: &'a SymbolizedTrace) -> Places<'a> {
        Places { symbolized, labels: Labels::new(symbolized), known: BTreeMap::new() }
    }

    /// The place of a site, as it is in every build.
    pub(crate) fn point(&mut self, site: SiteId) -> Point {
        if let Some(point) = self.known.get(&site) {
            return point.clone();
        }
        let found = self.symbolized.trace.site(site);
        let point = found.map_or(Point::anywhere(Class::Any), |it| {
            plain(&look_up(self.symbolized, &mut self.labels, it))
        });
        self.known.insert(site, point.clone());
        point
    }

    /// The place of an event, and which visit of its thread to that place it is.
    fn visit(&mut self, id: EventId) -> Option<Visit> {
        let SymbolizedTrace { trace, .. } = self.symbolized;
        let point = self.point(trace.event(id)?.site);
        let is_there = &mut |site| self.point(site) == point;
        let times = trace.visits(id.thread, 0..id.index + 1, is_there);
        Some(Visit { point, times })
    }

    /// The event of a run that a claim names.
    fn find(&mut self, claimed: &ClaimedEvent) -> Option<Event> {
        let SymbolizedTrace { trace, .. } = self.symbolized;
        let thread = trace.threads().iter().find(|it| it.name == claimed.thread)?.id;
        let wanted = plain(&claimed.at.point);
        let is_there = &mut |site| self.point(site) == wanted;
        trace.visit(thread, claimed.at.times.checked_sub(1)?, is_there)
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    #[test]
    fn two_accesses_conflict_if_one_writes_and_not_both_are_atomic() {
        let conflicts = |events: &str| {
            let trace = text::parse(&format!("order global\n{events}")).unwrap();
            let events: Vec<_> = trace.merged().collect();
            let [.., one, other] = &events[..] else { panic!("two events") };
            conflict(&|at, block| block_size(trace.merged(), at, block), one, other)
        };
        assert!(conflicts("T1 w x 1\nT2 r x 1"));
        assert!(!conflicts("T1 r x 1\nT2 r x 1"));
        assert!(!conflicts("T1 w x 1\nT2 r y 1"));
        assert!(!conflicts("T1 store x 1 relaxed\nT2 load x 1 relaxed"));
        assert!(conflicts("T1 store x 1 relaxed\nT2 r x 1"));
        assert!(conflicts("T1 alloc p 16\nT2 r p 1\nT1 free p"));
        assert!(!conflicts("T1 alloc p 16\nT2 r x 1\nT1 free p"));
    }

    #[test]
    fn a_lock_orders_the_accesses_and_a_relaxed_flag_does_not() {
        let unordered = |events: &str| {
            let trace = text::parse(&format!("order global\n{events}")).unwrap();
            let plain = |it: &Event| matches!(it.op, Op::Read { .. } | Op::Write { .. });
            let accesses: Vec<_> = trace.merged().filter(plain).map(|it| it.id).collect();
            is_unordered(&trace, accesses[0], accesses[1])
        };
        assert!(unordered("T1 w x 1\nT1 store f 1 relaxed\nT2 load f 1 acquire\nT2 r x 1"));
        assert!(!unordered("T1 w x 1\nT1 store f 1 release\nT2 load f 1 acquire\nT2 r x 1"));
        let locked = "T1 acq m\nT1 w x 1\nT1 rel m\nT2 acq m\nT2 r x 1\nT2 rel m";
        assert!(!unordered(locked));
    }
}
