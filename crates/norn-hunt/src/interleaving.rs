//! What happened in which order: in the recorded run, and in the one that was forced.
//!
//! Of all events those matter that a candidate is made of, and the synchronisation of their threads
//! around them: the locks that they hold there, and the next operations before and after.

use std::collections::BTreeSet;

use norn_model::{Candidate, Event, EventId, Op, ThreadId, Trace};
use norn_report::{EventRow, Interleaving};

use crate::source::Source;

/// Compares the run that a candidate was predicted from with the one that did it.
pub(crate) fn interleaving(
    source: &Source,
    forced: Option<&Source>,
    candidate: &Candidate,
) -> Interleaving {
    let steps: Vec<_> = candidate.steps.iter().map(|it| Some(it.event)).collect();
    let recorded = rows(source, &steps);
    let again = |forced: &Source| {
        let there = candidate.steps.iter().map(|it| renamed(source, forced, it.event));
        rows(forced, &there.collect::<Vec<_>>())
    };
    let mut forced = forced.map(again).unwrap_or_default();
    // What would have ended a wait need not come any more when its time has run out.
    if candidate.expires().is_none() {
        add_missing(&recorded, &mut forced);
    }
    Interleaving { recorded, forced }
}

/// The same event in another run, where its thread may have another number.
fn renamed(source: &Source, other: &Source, id: EventId) -> Option<EventId> {
    let name = source.scene.thread(id.thread);
    let same = |it: &&norn_model::Thread| other.scene.thread(it.id) == name;
    let thread = other.trace.threads.iter().find(same)?.id;
    Some(EventId { thread, ..id })
}

/// An access at which the program dies is in no trace. It was the last.
fn add_missing(recorded: &[EventRow], forced: &mut Vec<EventRow>) {
    for row in recorded.iter().filter(|it| it.step.is_some()) {
        if forced.iter().all(|it| it.step != row.step) {
            forced.push(EventRow { value: None, shown: None, ..row.clone() });
        }
    }
}

/// Some of the steps may not be in this run, with their threads.
fn rows(source: &Source, steps: &[Option<EventId>]) -> Vec<EventRow> {
    let here: Vec<_> = steps.iter().copied().flatten().collect();
    let around = here.iter().flat_map(|it| around(&source.trace, *it, &here));
    let wanted: BTreeSet<_> = here.iter().copied().chain(around).collect();
    let row = |(id, row)| {
        let step = steps.iter().position(|it| *it == Some(id));
        EventRow { step, ..row }
    };
    norn_replay::story::rows(&source.scene, &wanted).into_iter().map(row).collect()
}

/// What the thread of an event does to synchronise around it.
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

/// The locks that are held after some events, and where they were taken.
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
    match *op {
        Op::Acquire { lock, .. } | Op::WaitAcquire { lock, .. } => Some(lock),
        _ => None,
    }
}

fn released(op: &Op) -> Option<u64> {
    match *op {
        Op::Release { lock, .. } | Op::WaitRelease { lock } => Some(lock),
        _ => None,
    }
}

/// Whether an operation synchronises; of threads only those count that the candidate is about.
fn is_shown(op: &Op, steps: &[EventId]) -> bool {
    let ours = |thread: ThreadId| steps.iter().any(|it| it.thread == thread);
    match *op {
        Op::Fork(thread) | Op::Join(thread) => ours(thread),
        Op::Acquire { .. }
        | Op::AcquireFailed { .. }
        | Op::Release { .. }
        | Op::Wait { .. }
        | Op::WaitAcquire { .. }
        | Op::Signal { .. }
        | Op::Broadcast { .. }
        | Op::BarrierEnter { .. }
        | Op::BarrierLeave { .. }
        | Op::SemPost { .. }
        | Op::SemWait { .. }
        | Op::SemFailed { .. }
        | Op::OnceBegin { .. }
        | Op::OnceEnd { .. }
        | Op::OnceDone { .. }
        | Op::HappensBefore { .. }
        | Op::HappensAfter { .. } => true,
        Op::Begin { .. }
        | Op::End
        | Op::Detach(_)
        | Op::Cancel(_)
        | Op::HandlerBegin { .. }
        | Op::HandlerEnd
        | Op::WaitRelease { .. }
        | Op::Read { .. }
        | Op::Write { .. }
        | Op::Atomic { .. }
        | Op::Fence(_)
        | Op::Alloc { .. }
        | Op::Free { .. }
        | Op::Map { .. }
        | Op::Unmap { .. }
        | Op::Init { .. }
        | Op::Destroy { .. }
        | Op::Call { .. }
        | Op::Return { .. }
        | Op::Mark { .. }
        | Op::RegionBegin
        | Op::RegionEnd
        | Op::Sleep { .. }
        | Op::Yield
        | Op::ProcessFork { .. }
        | Op::Exec
        | Op::Exit { .. }
        | Op::Abort => false,
    }
}
