//! The reason of each switch of threads in a table of events.
//!
//! Where the next row is of another thread, the thread of the row before is at some event that it performs
//! later, if at all. What that event is, and who holds which lock when the other thread continues, tells
//! why: it waits, has ended, or could continue but the schedule prefers the other thread, which then
//! has to do something that the finding is about.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    BarrierEffect, ConditionEffect, Effect, Event, EventId, LockEffect, Op, ThreadId,
};
use norn_report::{EventRow, Switch};

use crate::source::Source;

/// Sets the reasons of switches in rows of a run. Only where a schedule was forced can a switch be forced.
pub(crate) fn explain(source: &Source, rows: &mut [(EventId, EventRow)], forced: bool) {
    let states = states(source, rows);
    let next: BTreeSet<_> = states.values().filter_map(|it| it.next.map(|it| it.0)).collect();
    let named: BTreeMap<_, _> =
        norn_replay::story::rows(&source.symbolized, &next).into_iter().collect();
    for (at, state) in states {
        let reason = reason(source, &state, &named);
        let other = || if forced { requirement(rows, at) } else { system(&state, rows, at) };
        let reason = reason.or_else(other);
        rows[at].1.switch = reason;
    }
}

/// A thread when another one continues.
struct ThreadState {
    ended: bool,
    /// The event that it performs next, and the holder of the lock that it acquires with it.
    next: Option<(EventId, Op, Option<ThreadId>)>,
    /// The threads that have ended.
    all_ended: BTreeSet<ThreadId>,
}

/// By the row before a switch: the state of its thread.
fn states(source: &Source, rows: &[(EventId, EventRow)]) -> BTreeMap<usize, ThreadState> {
    let switches = rows.windows(2).zip(0..).filter(|(it, _)| it[0].0.thread != it[1].0.thread);
    let mut switches: BTreeMap<EventId, (usize, ThreadId)> =
        switches.map(|(it, at)| (it[1].0, (at, it[0].0.thread))).collect();
    let mut found = BTreeMap::new();
    let mut waiting: Vec<(usize, ThreadId, BTreeMap<u64, ThreadId>)> = Vec::new();
    let (mut holders, mut ended) = (BTreeMap::new(), BTreeSet::new());
    for event in source.trace.merged() {
        let id = source.recorded(event.id);
        waiting.retain(|(at, thread, holders)| {
            let arrives = *thread == event.id.thread;
            if arrives && let Some(state) = found.get_mut(at) {
                note_next(state, id, &event, holders);
            }
            !arrives
        });
        if let Some((at, thread)) = switches.remove(&id) {
            let state = ThreadState {
                ended: ended.contains(&thread),
                next: None,
                all_ended: ended.clone(),
            };
            found.insert(at, state);
            waiting.push((at, thread, holders.clone()));
        }
        if switches.is_empty() && waiting.is_empty() {
            break;
        }
        note(&event, &mut holders, &mut ended);
    }
    found
}

fn note_next(
    state: &mut ThreadState,
    id: EventId,
    event: &Event,
    holders: &BTreeMap<u64, ThreadId>,
) {
    let lock = match event.op.effect() {
        Effect::Lock(LockEffect::Acquire { lock, .. }) => holders.get(&lock).copied(),
        _ => None,
    };
    let other = lock.filter(|it| *it != event.id.thread);
    state.next = Some((id, event.op, other));
}

/// Keeps the exclusive holders of locks and the threads that have ended.
fn note(event: &Event, holders: &mut BTreeMap<u64, ThreadId>, ended: &mut BTreeSet<ThreadId>) {
    match event.op.effect().lock() {
        Some(LockEffect::Acquire { lock, .. }) => {
            holders.insert(lock, event.id.thread);
        }
        Some(LockEffect::Release { lock, .. }) => {
            holders.remove(&lock);
        }
        Some(LockEffect::Failed { .. }) | None => {}
    }
    if event.op == Op::End {
        ended.insert(event.id.thread);
    }
}

/// Why a thread cannot continue, if it cannot.
fn reason(
    source: &Source,
    state: &ThreadState,
    named: &BTreeMap<EventId, EventRow>,
) -> Option<Switch> {
    if state.ended {
        return Some(Switch::Ends);
    }
    // A thread without a further event was ended with the program, or by it.
    let (id, op, holder) = state.next?;
    let object = || named.get(&id).and_then(|it| it.object.clone());
    match op.effect() {
        Effect::Lock(LockEffect::Acquire { .. }) => {
            let holder = source.symbolized.thread(holder?);
            Some(Switch::Lock { object: object()?, holder })
        }
        Effect::Condition(ConditionEffect::Wake { .. }) => {
            Some(Switch::Condition { object: object()? })
        }
        Effect::Barrier(BarrierEffect::Leave { .. }) => Some(Switch::Barrier { object: object()? }),
        _ => match op {
            Op::Join(thread) if !state.all_ended.contains(&thread) => {
                Some(Switch::Join { thread: source.symbolized.thread(thread) })
            }
            Op::End => Some(Switch::Ends),
            _ => None,
        },
    }
}

/// Without a schedule, it is the operating system that lets another thread run.
fn system(state: &ThreadState, rows: &[(EventId, EventRow)], at: usize) -> Option<Switch> {
    state.next?;
    Some(Switch::System { thread: rows.get(at + 1)?.1.thread.clone() })
}

/// What another thread has to do first: its next event that the finding is about.
fn requirement(rows: &[(EventId, EventRow)], at: usize) -> Option<Switch> {
    let thread = rows[at].0.thread;
    let (_, row) = rows[at + 1..].iter().find(|it| it.1.step.is_some() && it.0.thread != thread)?;
    let (thread, object) = (row.thread.clone(), row.object.clone());
    Some(Switch::Forced { thread, action: row.action, object })
}
