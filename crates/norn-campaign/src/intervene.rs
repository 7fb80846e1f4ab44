//! Schedules that make a pattern happen in a run, or keep it from happening.
//!
//! Both begin as a run that was made before, up to the first access of the pattern. There, the threads
//! are held, and let go one by one: to make the pattern happen, up to each of its accesses in turn; to
//! prevent it, so that one thread is held until the other one has made its accesses. Afterwards each
//! thread continues until it blocks, in both cases alike.

use std::collections::BTreeMap;

use norn_localize::{Occurrence, Pattern};
use norn_model::{
    BlockEffect, Effect, Event, EventId, Segment, SiteId, ThreadEffect, ThreadId, Until,
};
use norn_replay::{Clip, SymbolizedTrace, arrange};
use norn_trace::Trace;

use crate::{CodeSite, section::Section};

/// Number of schedules that are proposed for a run.
const PROPOSALS: usize = 4;

/// An access at one of the places of a pattern.
#[derive(Clone, Copy, Debug)]
struct Access {
    event: EventId,
    /// Its position among all events of the run.
    position: u64,
    addr: u64,
    size: u64,
}

impl Access {
    fn overlaps(&self, other: &Access) -> bool {
        self.addr < other.addr.saturating_add(other.size)
            && other.addr < self.addr.saturating_add(self.size)
    }
}

/// Schedules in which a pattern happens that did not happen in a run; first those that change least. A thread whose last
/// access the run lacks may come to it once the others have happened, as where it checks something first; so such
/// a schedule lets it continue.
pub(crate) fn forcing(symbolized: &SymbolizedTrace, pattern: &Pattern<CodeSite>) -> Vec<Clip> {
    let found = accesses(symbolized, pattern);
    let [firsts, remotes, rest @ ..] = found.as_slice() else { return Vec::new() };
    let mut orders = Vec::new();
    for first in firsts {
        let thread = first.event.thread;
        let follows =
            |it: &&Access| it.event.thread == thread && it.event.index > first.event.index;
        let last = rest.first().map(|it| it.iter().filter(follows).find(|it| it.overlaps(first)));
        let is_missing = matches!(last, Some(None));
        let remotes = remotes.iter().filter(|it| it.event.thread != thread && it.overlaps(first));
        let nearest = remotes.min_by_key(|it| it.position.abs_diff(first.position));
        if let Some(remote) = nearest {
            let order: Vec<_> =
                [Some(first), Some(remote), last.flatten()].into_iter().flatten().collect();
            orders.push((is_missing, remote.position.abs_diff(first.position), order));
        }
    }
    orders.sort_by_key(|it| (it.0, it.1));
    let clip = |order: &Vec<&Access>| {
        let earliest = order.iter().min_by_key(|it| it.position)?;
        let steps: Vec<_> = order.iter().map(|it| it.event).collect();
        schedule(symbolized, earliest.event, &steps)
    };
    orders.iter().take(PROPOSALS).filter_map(|it| clip(&it.2)).collect()
}

/// Schedules in which an occurrence of a pattern in a run does not happen: the thread that comes second
/// is held until the first one has made its accesses, or makes its own access first.
pub(crate) fn preventing(symbolized: &SymbolizedTrace, occurrence: &Occurrence) -> Vec<Clip> {
    let events = occurrence.events.as_slice();
    let orders: Vec<Vec<EventId>> = match *events {
        [first, remote] => vec![vec![remote, first]],
        [_, remote, last] => vec![vec![last, remote], vec![remote, last]],
        _ => Vec::new(),
    };
    orders.iter().filter_map(|it| schedule(symbolized, events[0], it)).collect()
}

/// The run up to an event, then these events in their order, then each thread until it blocks. Threads
/// are held outside of critical sections, so that others can get their locks.
fn schedule(symbolized: &SymbolizedTrace, first: EventId, steps: &[EventId]) -> Option<Clip> {
    let trace = &symbolized.trace;
    let begin = position(symbolized, Section::around(trace, first).begin)?;
    let mut turns: Vec<(ThreadId, u64)> = Vec::new();
    let mut add = |thread: ThreadId, until: u64| match turns.last_mut() {
        Some((last, index)) if *last == thread => *index = until,
        _ => turns.push((thread, until)),
    };
    for (event, _) in symbolized.trace.merged().zip(0..begin) {
        add(event.id.thread, event.id.index + 1);
    }
    for (creator, index) in creations(trace, begin, steps) {
        add(creator, index + 1);
    }
    for (at, step) in steps.iter().enumerate() {
        let end = Section::around(trace, *step).end;
        // Both accesses of a thread may be in one section.
        let own = steps[at + 1..].iter().find(|it| it.thread == step.thread);
        let crosses = own.is_some_and(|it| it.index < end);
        add(step.thread, if crosses { step.index + 1 } else { end });
    }
    let mut clip = arrange(symbolized, &turns);
    let mut threads: Vec<_> = steps.iter().map(|it| it.thread).collect();
    threads.extend(turns.iter().map(|it| it.0));
    let mut seen = Vec::new();
    for thread in threads {
        if !seen.contains(&thread) {
            seen.push(thread);
            let thread = symbolized.thread(thread);
            clip.schedule.segments.push(Segment { thread, until: Until::Blocks });
        }
    }
    Some(clip)
}

/// The events that create the threads of the steps and their creators, as far as they are not among the first ones of
/// the run.
fn creations(trace: &Trace, begin: u64, steps: &[EventId]) -> Vec<(ThreadId, u64)> {
    let mut creators = BTreeMap::new();
    for (event, position) in trace.merged().zip(0_u64..).skip_while(|it| it.1 < begin) {
        if let Effect::Thread(ThreadEffect::Fork(created)) = event.op.effect() {
            creators.insert(created, (position, event.id));
        }
    }
    let mut needed = BTreeMap::new();
    for step in steps {
        let mut thread = step.thread;
        while let Some((position, event)) = creators.get(&thread) {
            needed.insert(*position, (event.thread, event.index));
            thread = event.thread;
        }
    }
    needed.into_values().collect()
}

/// For each access of the pattern, the events of the run that could be it, in their order.
fn accesses(symbolized: &SymbolizedTrace, pattern: &Pattern<CodeSite>) -> Vec<Vec<Access>> {
    let trace = &symbolized.trace;
    let writes: Vec<bool> = pattern.kind.name().split('-').map(|it| it.starts_with('W')).collect();
    let mut found = vec![Vec::new(); pattern.sites.len()];
    let mut sites: BTreeMap<SiteId, Option<CodeSite>> = BTreeMap::new();
    let mut blocks = BTreeMap::new();
    for (event, position) in trace.merged().zip(0_u64..) {
        let Some((addr, size, write)) = touched(&event, &mut blocks) else { continue };
        let find = || CodeSite::new(symbolized, trace.site(event.site)?.pc);
        let Some(site) = sites.entry(event.site).or_insert_with(find) else { continue };
        for (at, wanted) in pattern.sites.iter().enumerate() {
            if wanted == site && writes.get(at) == Some(&write) {
                found[at].push(Access { event: event.id, position, addr, size });
            }
        }
    }
    found
}

/// The memory that an event reads or writes, and whether it writes. To free memory is to write it.
fn touched(event: &Event, blocks: &mut BTreeMap<u64, u64>) -> Option<(u64, u64, bool)> {
    match event.op.effect() {
        Effect::Access(access) => Some((access.addr, access.size, access.write.is_some())),
        Effect::Block(BlockEffect::Allocated { addr, size }) => {
            blocks.insert(addr, size);
            None
        }
        Effect::Block(BlockEffect::Freed { addr }) => {
            blocks.remove(&addr).map(|size| (addr, size, true))
        }
        _ => None,
    }
}

fn position(symbolized: &SymbolizedTrace, event: EventId) -> Option<u64> {
    let mut events = symbolized.trace.merged().zip(0_u64..);
    events.find(|it| it.0.id == event).map(|it| it.1)
}
