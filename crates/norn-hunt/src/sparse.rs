//! Recorded runs in which little happened: what a reader must know about them, and how the program
//! can be made to do more.

use std::collections::{BTreeMap, BTreeSet};

use norn_frontend::Timeouts;
use norn_model::{
    Effect, Event, EventId, Op, Role, Segment, ThreadEffect, ThreadId, ThreadName, Until,
};
use norn_replay::{Clip, capture};
use norn_report::Note;

use crate::source::Source;

/// Accesses are compared in units of this many bytes.
const UNIT: u64 = 8;
/// Maximum number of units of an access that are compared.
const MOST_UNITS: u64 = 512;
/// How often each unfinished thread gets another turn: one may need what another does meanwhile.
const TURNS: usize = 3;

/// What a reader must know about a recorded run.
pub(crate) fn notes(source: &Source, unfinished: &[ThreadName], explores: bool) -> Vec<Note> {
    let streams = source.symbolized.trace.threads();
    match () {
        () if !unfinished.is_empty() => {
            vec![Note::RunningThreads { threads: unfinished.to_vec(), continued: explores }]
        }
        () if streams.len() == 1 => vec![Note::OneThread],
        () if !is_anything_shared(source) => vec![Note::NothingShared],
        () => Vec::new(),
    }
}

/// The threads that were neither done nor blocked when the program ended.
pub(crate) fn unfinished(source: &Source) -> Vec<ThreadName> {
    let trace = &source.symbolized.trace;
    let process = trace.run().processes.iter().find(|it| it.number == trace.process());
    let blocked = process.iter().flat_map(|it| &it.blocked).map(|it| ThreadId(it.thread));
    let blocked: BTreeSet<_> = blocked.collect();
    let exiting = exit(source).map(|it| it.thread);
    let created = created(source).into_iter();
    let unfinished = created.filter(|it| {
        let events = source.trace.thread(it.0).map_or(&[][..], |it| &it.events);
        let ended = events.last().is_some_and(|it| it.op == Op::End);
        !ended && !blocked.contains(&it.0) && exiting != Some(it.0)
    });
    unfinished.map(|it| it.1).collect()
}

/// The threads that the program created, some of which may have no events.
fn created(source: &Source) -> BTreeMap<ThreadId, ThreadName> {
    let mut created = BTreeMap::new();
    for thread in &source.trace.threads {
        let forks = thread.events.iter().filter_map(|it| match it.op.effect() {
            Effect::Thread(ThreadEffect::Fork(child)) => Some(child),
            _ => None,
        });
        for (number, child) in (1..).zip(forks) {
            let known = source.symbolized.trace.thread(child).map(|it| it.name.clone());
            let derived = || ThreadName(format!("{}.{number}", thread.name));
            created.insert(child, known.unwrap_or_else(derived));
        }
    }
    let is_thread = |id: &ThreadId| {
        source.symbolized.trace.thread(*id).is_none_or(|it| it.role == Role::Thread)
    };
    created.retain(|id, _| is_thread(id));
    created
}

/// The event with which the program began to end. Exit handlers and destructors of static objects may follow it.
fn exit(source: &Source) -> Option<EventId> {
    let is_exit = |it: &&Event| matches!(it.op, Op::Exit { .. });
    let exits = source.trace.threads.iter().filter_map(|it| it.events.iter().find(is_exit));
    exits.map(|it| source.recorded(it.id)).next_back()
}

/// A schedule that is like the recorded run, except that unfinished threads continue until they
/// are done or blocked before the program ends.
pub(crate) fn finish(source: &Source, unfinished: &[ThreadName]) -> Option<Clip> {
    let exit = exit(source).filter(|_| !unfinished.is_empty())?;
    let mut clip = capture(&source.symbolized);
    let exiting = source.symbolized.thread(exit.thread);
    let segments = &mut clip.schedule.segments;
    let last = segments.iter().rposition(|it| it.thread == exiting)?;
    segments.truncate(last + 1);
    segments[last].until = Until::Event { index: exit.index, at: None };
    let turn = |it: &ThreadName| Segment { thread: it.clone(), until: Until::Blocks };
    for _ in 0..TURNS {
        segments.extend(unfinished.iter().map(turn));
    }
    // The recorded run does not say when the waits of these threads would time out.
    clip.timeouts = Timeouts::ByClock;
    Some(clip)
}

/// Whether two threads access common memory or use a common lock or the like.
fn is_anything_shared(source: &Source) -> bool {
    let mut first: BTreeMap<u64, ThreadId> = BTreeMap::new();
    for thread in &source.trace.threads {
        for event in &thread.events {
            let effect = event.op.effect();
            let (start, end) = match effect {
                Effect::Access(it) => (it.addr, it.addr.saturating_add(it.size.max(1)) - 1),
                _ => (1, 0),
            };
            let memory = start.div_ceil(UNIT)..=(end / UNIT).min(start / UNIT + MOST_UNITS);
            let objects = effect.objects().map(|it| it / UNIT);
            let mut units = memory.chain(objects).chain((start <= end).then_some(start / UNIT));
            if units.any(|it| *first.entry(it).or_insert(thread.id) != thread.id) {
                return true;
            }
        }
    }
    false
}
