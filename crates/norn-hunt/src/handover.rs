//! Why two accesses race although an atomic operation hands a value over between them.

use norn_frontend::Owner;
use norn_model::{
    Access, Candidate, Event, EventId, Location, Op, Ordering, Step, Trace,
    memory_model::{AtomicEdges, Edges, HappensBefore},
};
use norn_report::{AtomicOperation, Unordered, WeakOperation};

use crate::{describe::describe, source::Source};

/// Why the accesses of a race that are [not adjacent](Candidate::is_unordered_race) are not ordered.
pub(crate) fn unordered(source: &Source, candidate: &Candidate) -> Option<Unordered> {
    if !candidate.is_unordered_race() {
        return None;
    }
    let (first, last) = candidate.steps.first().zip(candidate.steps.last())?;
    let weak = weak_operation(&source.trace, first.event, last.event);
    Some(Unordered { weak: weak.and_then(|it| described(source, candidate, it)) })
}

/// The operation with the name of its variable and its place in the source.
fn described(source: &Source, candidate: &Candidate, weak: Weak) -> Option<WeakOperation> {
    let at = source.trace.event(weak.event())?;
    let Op::Atomic { addr, ordering, op, .. } = at.op else { return None };
    let (operation, access) = match weak {
        Weak::Store(_) => (AtomicOperation::Store, Access::Write),
        Weak::Load(_) => (AtomicOperation::Load, Access::Read),
    };
    let operation = if op.reads() && op.writes() { AtomicOperation::Update } else { operation };
    let region = (at.id.index, at.id.index);
    let step = Step { event: at.id, site: at.site, addr, access, region };
    let shown = Candidate { steps: vec![step], ..candidate.clone() };
    let shown = describe(source, &shown, true).accesses.pop()?;
    // The operation itself is in a function of the C++ library, unless it is inlined.
    let is_program = |it: &&Location| source.symbolized.symbols.owner(it) == Owner::Program;
    let location = shown.stack.iter().find(is_program).or(shown.stack.first()).cloned();
    Some(WeakOperation { operation, variable: shown.variable, ordering, location })
}

/// The atomic operation whose memory order is too weak to order two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weak {
    Store(EventId),
    Load(EventId),
}

impl Weak {
    fn event(self) -> EventId {
        match self {
            Weak::Store(event) | Weak::Load(event) => event,
        }
    }
}

/// Finds the load by which the second event's thread would learn of the first event if each atomic
/// operation were sequentially consistent, and the store that it reads from; and says which of the
/// two is too weak. None if another thread is between them.
fn weak_operation(trace: &Trace, first: EventId, second: EventId) -> Option<Weak> {
    let edges = Edges { atomics: AtomicEdges::SeqCst, locks: true };
    let load = HappensBefore::new(trace, edges).first_after(first, second.thread)?;
    let store = source_of(trace, load)?;
    let ordering = |id: EventId| match trace.event(id)?.op {
        Op::Atomic { ordering, .. } => Some(ordering),
        _ => None,
    };
    let fences = |from: EventId, to: u64, is: fn(Ordering) -> bool| {
        let events = trace.thread(from.thread).map_or(&[][..], |it| &it.events);
        let between = events.iter().filter(|it| (from.index..to).contains(&it.id.index));
        between.into_iter().any(|it| matches!(it.op, Op::Fence(ordering) if is(ordering)))
    };
    let start = if store.thread == first.thread { first.index } else { 0 };
    let start = EventId { index: start, ..store };
    if !ordering(store)?.releases() && !fences(start, store.index, Ordering::releases) {
        return Some(Weak::Store(store));
    }
    let acquires = ordering(load)?.acquires() || fences(load, second.index, Ordering::acquires);
    (!acquires).then_some(Weak::Load(load))
}

/// The atomic write whose value an atomic operation reads.
fn source_of(trace: &Trace, load: EventId) -> Option<EventId> {
    let Op::Atomic { addr: at, .. } = trace.event(load)?.op else { return None };
    let writes =
        |it: &Event| matches!(it.op, Op::Atomic { addr, op, .. } if addr == at && op.writes());
    let before = trace.merged().take_while(|it| it.id != load);
    before.filter(writes).last().map(|it| it.id)
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// Which operation is too weak to order the write and the read of `x`.
    fn weak(events: &str) -> Option<Weak> {
        let trace = text::parse(&format!("order global\n{events}")).unwrap();
        let plain = |it: &Event| matches!(it.op, Op::Read { .. } | Op::Write { .. });
        let mut accesses = trace.merged().filter(plain).map(|it| it.id);
        let (first, second) = (accesses.next().unwrap(), accesses.next().unwrap());
        weak_operation(&trace, first, second)
    }

    #[test]
    fn the_weaker_side_is_named() {
        let store = weak("T1 w x 1\nT1 store f 1 relaxed\nT2 load f 1 acquire\nT2 r x 1");
        assert!(matches!(store, Some(Weak::Store(_))));
        let load = weak("T1 w x 1\nT1 store f 1 release\nT2 load f 1 relaxed\nT2 r x 1");
        assert!(matches!(load, Some(Weak::Load(_))));
    }

    #[test]
    fn a_fence_makes_a_relaxed_operation_strong() {
        let load =
            weak("T1 w x 1\nT1 fence release\nT1 store f 1 relaxed\nT2 load f 1 relaxed\nT2 r x 1");
        assert!(matches!(load, Some(Weak::Load(_))));
        let store =
            weak("T1 w x 1\nT1 store f 1 relaxed\nT2 load f 1 relaxed\nT2 fence acquire\nT2 r x 1");
        assert!(matches!(store, Some(Weak::Store(_))));
    }
}
