//! The order of the relevant events: in the recorded run, and in the forced run.
//!
//! The relevant events are those of the candidate, and the synchronisation of their threads around
//! them: the acquisition of the locks that they hold there, and the nearest operations before and
//! after.

use std::collections::BTreeSet;

use norn_model::{
    BarrierEffect, Candidate, Consequence, Effect, Event, EventId, LockEffect, Op, SemaphoreEffect,
    Step, ThreadEffect, ThreadId, ThreadName, Trace,
};
use norn_report::{Action, EventRow, Interleaving, Switch};

use crate::{confirm::event_again, source::Source, switch};

/// Compares the run from which a candidate was predicted with the run that performed it.
pub(crate) fn interleaving(
    source: &Source,
    (forced, consequence): (Option<&Source>, &Consequence),
    candidate: &Candidate,
) -> Interleaving {
    let steps: Vec<_> = candidate.steps.iter().map(|it| Some(it.event)).collect();
    let recorded = rows(source, &steps, false);
    let again = |forced: &Source| {
        let there = candidate.steps.iter().map(|it| {
            // Where values differ, a thread may have taken another way to the same place.
            let event = event_again(source, it.event, &forced.symbolized).map(|it| it.id);
            let event = event.and_then(|it| forced.positions.loaded(it));
            event.or_else(|| after_the_end(source, it.event, forced))
        });
        let mut rows = rows(forced, &there.collect::<Vec<_>>(), true);
        add_stuck(source, candidate, &mut rows);
        rows
    };
    let mut forced = forced.map(again).unwrap_or_default();
    // A program that dies at an access has not recorded it. In all other cases, what is missing was not done.
    let died = matches!(consequence, Consequence::Signal { .. } | Consequence::Memory(_));
    if died && candidate.expires().is_none() {
        add_missing(&recorded, &mut forced);
    }
    Interleaving { recorded, forced }
}

/// The order of some events of a run, with the synchronisation around them.
pub(crate) fn order_of(source: &Source, events: &[EventId]) -> Vec<EventRow> {
    rows(source, &events.iter().map(|it| Some(*it)).collect::<Vec<_>>(), true)
}

/// The order of some events of a run in the run that it was predicted from, as far as that one has them.
pub(crate) fn recorded_order(recorded: &Source, run: &Source, events: &[EventId]) -> Vec<EventRow> {
    let there = |it: &EventId| {
        let event = event_again(run, *it, &recorded.symbolized)?;
        recorded.positions.loaded(event.id)
    };
    rows(recorded, &events.iter().map(there).collect::<Vec<_>>(), false)
}

/// The place of an event in another run whose thread ended before it.
fn after_the_end(source: &Source, id: EventId, other: &Source) -> Option<EventId> {
    let name = source.symbolized.thread(id.thread);
    let same = |it: &&norn_model::Thread| other.symbolized.thread(it.id) == name;
    let thread = other.trace.threads.iter().find(same)?;
    let id = other.positions.loaded(EventId { thread: thread.id, ..source.recorded(id) })?;
    thread.events.last().is_none_or(|it| it.id.index < id.index).then_some(id)
}

/// A request in which a thread waits forever is not in the trace of that run, so it is added as a last row.
fn add_stuck(source: &Source, candidate: &Candidate, forced: &mut Vec<EventRow>) {
    for stuck in &candidate.stuck {
        let wanted = [source.recorded(stuck.event)].into();
        let Some((_, row)) = norn_replay::story::rows(&source.symbolized, &wanted).pop() else {
            continue;
        };
        let holds = |it: &&Step| it.addr == stuck.addr && it.event.thread != stuck.event.thread;
        let holder = candidate.steps.iter().find(holds);
        let holder = holder.map(|it| source.symbolized.thread(it.event.thread));
        forced.push(waiting(row, holder));
    }
}

/// A thread that wants a lock, and the thread that holds it.
pub(crate) fn waiting(row: EventRow, holder: Option<ThreadName>) -> EventRow {
    let lock = row.object.clone().zip(holder);
    let switch = lock.map(|(object, holder)| Switch::Lock { object, holder });
    EventRow { action: Action::Wait, value: None, shown: None, step: None, switch, ..row }
}

/// Adds the access at which the program died as the last row: the first one that is missing.
fn add_missing(recorded: &[EventRow], forced: &mut Vec<EventRow>) {
    let is_missing =
        |it: &&EventRow| it.step.is_some() && forced.iter().all(|row| row.step != it.step);
    if let Some(row) = recorded.iter().filter(is_missing).min_by_key(|it| it.step) {
        forced.push(EventRow { value: None, shown: None, switch: None, ..row.clone() });
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
pub(crate) fn held(events: &[Event]) -> Vec<(u64, EventId)> {
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
