//! The order of the relevant events: in the recorded run, and in the forced run.
//!
//! The relevant events are those of the candidate, and the synchronisation of their threads around
//! them: the acquisition of the locks that they hold there, and the nearest operations before and
//! after.

use std::collections::BTreeSet;

use norn_model::{
    BarrierEffect, Candidate, Effect, Event, EventId, LockEffect, Op, SemaphoreEffect,
    ThreadEffect, ThreadId, Trace,
};
use norn_report::{EventRow, Interleaving};

use crate::{source::Source, switch};

/// Compares the run from which a candidate was predicted with the run that performed it.
pub(crate) fn interleaving(
    source: &Source,
    forced: Option<&Source>,
    candidate: &Candidate,
) -> Interleaving {
    let steps: Vec<_> = candidate.steps.iter().map(|it| Some(it.event)).collect();
    let recorded = rows(source, &steps, false);
    let again = |forced: &Source| {
        let there = candidate.steps.iter().map(|it| renamed(source, forced, it.event));
        rows(forced, &there.collect::<Vec<_>>(), true)
    };
    let mut forced = forced.map(again).unwrap_or_default();
    // A thread whose wait has expired need not be signalled any more.
    if candidate.expires().is_none() {
        add_missing(&recorded, &mut forced);
    }
    Interleaving { recorded, forced }
}

/// The order of some events of a run, with the synchronisation around them.
pub(crate) fn order_of(source: &Source, events: &[EventId]) -> Vec<EventRow> {
    rows(source, &events.iter().map(|it| Some(*it)).collect::<Vec<_>>(), false)
}

/// The same event in another run, where its thread may have another number.
fn renamed(source: &Source, other: &Source, id: EventId) -> Option<EventId> {
    let name = source.symbolized.thread(id.thread);
    let same = |it: &&norn_model::Thread| other.symbolized.thread(it.id) == name;
    let thread = other.trace.threads.iter().find(same)?.id;
    other.positions.loaded(EventId { thread, ..source.recorded(id) })
}

/// An access at which the program dies is not in the trace, so it is added as the last row.
fn add_missing(recorded: &[EventRow], forced: &mut Vec<EventRow>) {
    for row in recorded.iter().filter(|it| it.step.is_some()) {
        if forced.iter().all(|it| it.step != row.step) {
            forced.push(EventRow { value: None, shown: None, switch: None, ..row.clone() });
        }
    }
}

/// Some of the steps may be missing in this run, and so may their threads.
fn rows(source: &Source, steps: &[Option<EventId>], forced: bool) -> Vec<EventRow> {
    let here: Vec<_> = steps.iter().copied().flatten().collect();
    let around = here.iter().flat_map(|it| around(&source.trace, *it, &here));
    let wanted = here.iter().copied().chain(around).map(|it| source.recorded(it));
    let wanted: BTreeSet<_> = wanted.collect();
    let mut rows = norn_replay::story::rows(&source.symbolized, &wanted);
    for (id, row) in &mut rows {
        row.step = steps.iter().position(|it| it.map(|it| source.recorded(it)) == Some(*id));
    }
    switch::explain(source, &mut rows, forced);
    rows.into_iter().map(|it| it.1).collect()
}

/// The synchronisation operations of an event's thread around that event.
fn around(trace: &Trace, step: EventId, steps: &[EventId]) -> Vec<EventId> {
    let events = trace.thread(step.thread).map_or(&[][..], |it| &it.events);
    let (before, rest) = events.split_at(events.partition_point(|it| it.id.index < step.index));
    let after = rest.get(1..).unwrap_or_default();
    let shown = |it: &&Event| is_shown(&it.op, steps);
    let next = [before.iter().rev().find(shown), after.iter().find(shown)];
    let held = held(before);
    let given_back = |lock: u64| after.iter().find(move |it| released(&it.op) == Some(lock));
    let back = held.iter().filter_map(|it| given_back(it.0)).map(|it| it.id);
    let next = next.into_iter().flatten().map(|it| it.id);
    next.chain(held.iter().map(|it| it.1)).chain(back).collect()
}

/// The locks that are held after some events, and the events that acquired them.
fn held(events: &[Event]) -> Vec<(u64, EventId)> {
    let mut held: Vec<(u64, EventId)> = Vec::new();
    for event in events {
        if let Some(lock) = acquired(&event.op) {
            held.push((lock, event.id));
        } else if let Some(lock) = released(&event.op)
            && let Some(at) = held.iter().rposition(|it| it.0 == lock)
        {
            held.remove(at);
        }
    }
    held
}

fn acquired(op: &Op) -> Option<u64> {
    let Some(LockEffect::Acquire { lock, .. }) = op.effect().lock() else { return None };
    Some(lock)
}

fn released(op: &Op) -> Option<u64> {
    let Some(LockEffect::Release { lock, .. }) = op.effect().lock() else { return None };
    Some(lock)
}

/// Whether an operation synchronises. The creation and the join of a thread count only if the
/// candidate has events of that thread.
fn is_shown(op: &Op, steps: &[EventId]) -> bool {
    let ours = |thread: ThreadId| steps.iter().any(|it| it.thread == thread);
    match op.effect() {
        Effect::Thread(ThreadEffect::Fork(thread) | ThreadEffect::Join(thread)) => ours(thread),
        Effect::Lock(
            LockEffect::Acquire { .. }
            | LockEffect::Failed { .. }
            | LockEffect::Release { by_wait: false, .. },
        )
        | Effect::Condition(_)
        | Effect::Barrier(BarrierEffect::Arrive { .. } | BarrierEffect::Leave { .. })
        | Effect::Semaphore(
            SemaphoreEffect::Post { .. }
            | SemaphoreEffect::Wait { .. }
            | SemaphoreEffect::Failed { .. },
        )
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_) => true,
        Effect::None
        // The wait itself is the next event.
        | Effect::Lock(LockEffect::Release { by_wait: true, .. })
        | Effect::Access(_)
        | Effect::Barrier(BarrierEffect::Init { .. })
        | Effect::Semaphore(SemaphoreEffect::Init { .. })
        | Effect::Block(_)
        | Effect::Object(_) => false,
    }
}
