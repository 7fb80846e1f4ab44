//! What the threads of a candidate do after its last event.
//!
//! A schedule ends with the anomaly; the harm comes later. Usually the thread of the last event continues
//! first: it may have read data that is only half written. But the thread that it interferes with may be
//! about to free what the former still uses, and then that one goes first, up to there. If the program
//! survives one of the two continuations, the other one is tried as well.

use norn_model::{
    BlockEffect, BugClass, Effect, Event, ObjectEffect, Segment, ThreadId, Trace, Until, Visit,
};
use norn_replay::point;
use norn_witness::Witness;

use crate::{dependence, source::Source};

/// Number of events after the candidate in which the other thread must free something to go first.
const HORIZON: usize = 8;

/// Which thread continues after the last event of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// The one that is more likely to do harm.
    #[default]
    Likely,
    /// The other one.
    Opposite,
}

/// What comes before the thread of the last event continues. `turns` lead to the candidate.
pub(crate) fn first(
    source: &Source,
    witness: &Witness,
    turns: &[(ThreadId, u64)],
    continuation: Continuation,
) -> Option<Segment> {
    let (thread, from) = other(witness, turns)?;
    let name = source.symbolized.thread(thread);
    let events = &source.trace.thread(thread)?.events;
    let from = events.partition_point(|it| source.recorded(it.id).index < from);
    let last = turns.last()?.0;
    match (destruction(&source.trace, &events[from..], last), continuation) {
        (Some(event), Continuation::Likely) => {
            let visit = Visit { point: point(&source.symbolized, event.site), times: 1 };
            Some(Segment { thread: name, until: Until::After(visit) })
        }
        (None, Continuation::Opposite) => Some(Segment { thread: name, until: Until::Blocks }),
        (Some(_), Continuation::Opposite) | (None, Continuation::Likely) => None,
    }
}

/// Whether both continuations of a candidate can differ.
pub(crate) fn has_opposite(trace: &Trace, witness: &Witness) -> bool {
    let candidate = &witness.candidate;
    let turns: Vec<_> = witness.turns.iter().map(|it| (it.thread, it.until)).collect();
    let class = matches!(
        candidate.class(),
        BugClass::Atomicity | BugClass::AtomicSet | BugClass::Order | BugClass::Lifetime
    );
    let accesses = |(thread, from): (ThreadId, u64)| {
        let events = trace.thread(thread).map_or(&[][..], |it| &it.events);
        let later = events.iter().skip(usize::try_from(from).unwrap_or(usize::MAX));
        later.into_iter().any(|it| matches!(it.op.effect(), Effect::Access(_) | Effect::Block(_)))
    };
    let plain = candidate.stuck.is_empty() && candidate.expires().is_none();
    class && plain && other(witness, &turns).is_some_and(accesses)
}

/// The thread of the candidate that does not have the last turn, and the index of its next event.
fn other(witness: &Witness, turns: &[(ThreadId, u64)]) -> Option<(ThreadId, u64)> {
    let last = turns.last()?.0;
    let threads = witness.candidate.steps.iter().map(|it| it.event.thread);
    let other = threads.rev().find(|it| *it != last)?;
    turns.iter().rev().find(|it| it.0 == other).copied()
}

/// The next event that frees memory or destroys an object that another thread can reach, if that comes
/// soon.
fn destruction<'a>(trace: &Trace, later: &'a [Event], by: ThreadId) -> Option<&'a Event> {
    let others = trace.thread(by).map_or(&[][..], |it| &it.events);
    later.iter().take(HORIZON).find(|it| match it.op.effect() {
        Effect::Block(BlockEffect::Freed { addr }) => {
            dependence::is_reachable(trace, it.id, addr, others)
        }
        Effect::Object(ObjectEffect::Destroy { object, .. }) => {
            others.iter().any(|it| it.op.effect().objects().any(|it| it == object))
        }
        _ => false,
    })
}
