//! Perturbation: threads are held at places in the code until the others have arrived at theirs.
//!
//! A schedule counts events. It cannot be followed if one of its threads sees something else on the way and
//! takes another path, although that path may lead to the same accesses. From there on, the thread is led by
//! places instead: it runs until it arrives at the next access of the candidate, is held there while others
//! arrive at theirs, and then makes the access.
//!
//! After Zhang et al. (`ConSeq`, ASPLOS 2011, Section 8), who hold a thread before the write or the read
//! until its partner arrives, with two special cases that are the same here. If the accesses are protected
//! by a lock, a thread is held before it enters the critical section. If a thread is to read what it has written
//! itself, nothing but that thread runs until it has read, so all other writes are held. Where we differ: the
//! paper delays threads for some time in a free run. Here the run is controlled, and the result is an ordinary
//! schedule, so it is the same each time and is replayed like any other.

mod schedule;
mod stop;

use std::collections::BTreeMap;

use norn_model::{
    Access, BugClass, Candidate, Effect, EventId, MemoryAccess, Step, ThreadEffect, ThreadId, Trace,
};
use norn_witness::{Turn, Witness, events};

use self::stop::{Builder, Stop, section};
use crate::attempt::too_early;

/// Maximum number of events of a run whose order is repeated up to the first access.
const MOST_EVENTS: usize = 1 << 18;

/// A perturbed run, as the points up to which threads run, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Perturbation {
    stops: Vec<Stop>,
}

impl Perturbation {
    /// For a schedule that the program has left: it is followed until a thread sees something else than
    /// in the recorded run.
    pub(crate) fn of_schedule(trace: &Trace, witness: &Witness) -> Option<Perturbation> {
        let mut departs: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for read in &witness.differing {
            let index = departs.entry(read.thread).or_insert(u64::MAX);
            *index = (*index).min(read.index + 1);
        }
        let mut turns = witness.turns.clone();
        let candidate = &witness.candidate;
        let early = too_early(candidate);
        if let Some(read) = early {
            cut(&mut turns, read);
        }
        let mut steps: Vec<_> = candidate.steps.iter().map(|it| it.event).collect();
        if let Some(read) = early {
            let order = events(&turns).filter_map(|it| trace.event(it)).map(|it| it.id);
            steps = last_write(trace, candidate, order, read).into_iter().chain([read]).collect();
        }
        // If nobody leaves its path before its last access, holding threads by place changes nothing.
        let leaves = |it: &EventId| departs.get(&it.thread).is_some_and(|from| *from <= it.index);
        let is_needed = is_plain(candidate) && steps.iter().any(leaves);
        let stops = is_needed.then(|| Builder::new(trace, steps, departs).build(&turns));
        Some(Perturbation { stops: stops.flatten()? })
    }

    /// For a candidate without a schedule: the recorded run is repeated up to its first access, or the
    /// critical section around that.
    pub(crate) fn of_recorded_order(trace: &Trace, candidate: &Candidate) -> Option<Perturbation> {
        if !is_plain(candidate) || trace.len() > MOST_EVENTS {
            return None;
        }
        let early = too_early(candidate);
        let accesses = candidate.steps.iter().map(|it| it.event);
        let section = |it: EventId| section(trace, it);
        let begins: Vec<_> =
            accesses.clone().map(|it| EventId { index: section(it).0, ..it }).collect();
        let mut turns: Vec<Turn> = Vec::new();
        let order = trace.merged().map(|it| it.id).take_while(|it| !begins.contains(it));
        order.for_each(|it| extend(&mut turns, it.thread, it.index + 1));
        let departs: BTreeMap<ThreadId, u64> =
            accesses.clone().map(|it| (it.thread, executed(&turns, it.thread))).collect();
        let mut steps: Vec<_> = accesses.collect();
        if let Some(read) = early {
            let write = candidate.steps.last()?.event;
            let order = trace.merged().map(|it| it.id).take_while(|it| *it != write);
            let instead = last_write(trace, candidate, order, read);
            let is_left = |it: &EventId| it.index >= executed(&turns, it.thread);
            steps = instead.into_iter().filter(is_left).chain([read]).collect();
        }
        for (at, step) in steps.iter().enumerate() {
            if let Some(fork) = fork(trace, step.thread)
                && executed(&turns, fork.thread) <= fork.index
            {
                extend(&mut turns, fork.thread, fork.index + 1);
            }
            let end = section(*step).1 + 1;
            let own = steps[at + 1..].iter().find(|it| it.thread == step.thread);
            let crosses = own.is_some_and(|it| it.index < end);
            extend(&mut turns, step.thread, if crosses { step.index + 1 } else { end });
        }
        Some(Perturbation { stops: Builder::new(trace, steps, departs).build(&turns)? })
    }
}

/// Whether a candidate is about which write a read sees.
fn is_plain(candidate: &Candidate) -> bool {
    let is_access = |it: &Step| matches!(it.access, Access::Read | Access::Write);
    matches!(candidate.class(), BugClass::Order | BugClass::Atomicity)
        && !candidate.adjacent
        && candidate.stuck.is_empty()
        && candidate.expires().is_none()
        && candidate.steps.iter().all(is_access)
}

/// The event that creates a thread.
fn fork(trace: &Trace, thread: ThreadId) -> Option<EventId> {
    let creates =
        |it: &Effect| matches!(it, Effect::Thread(ThreadEffect::Fork(it)) if *it == thread);
    let mut all = trace.threads.iter().flat_map(|it| &it.events);
    all.find(|it| creates(&it.op.effect())).map(|it| it.id)
}

/// Of events in their order, the last one of another thread that writes what a read sees.
fn last_write(
    trace: &Trace,
    candidate: &Candidate,
    order: impl Iterator<Item = EventId>,
    read: EventId,
) -> Option<EventId> {
    let addr = candidate.steps.iter().find(|it| it.event == read)?.addr;
    let writes = |it: &EventId| {
        let access = trace.event(*it).and_then(|it| it.op.access());
        let writes =
            |it: MemoryAccess| it.write.is_some() && it.addr <= addr && addr - it.addr < it.size;
        access.is_some_and(writes)
    };
    let last = order.take_while(|it| *it != read).filter(writes).last()?;
    (last.thread != read.thread).then_some(last)
}

/// Number of events of a thread in some turns.
fn executed(turns: &[Turn], thread: ThreadId) -> u64 {
    turns.iter().rev().find(|it| it.thread == thread).map_or(0, |it| it.until)
}

/// Lets a thread run up to an event.
fn extend(turns: &mut Vec<Turn>, thread: ThreadId, until: u64) {
    match turns.last_mut() {
        Some(last) if last.thread == thread => last.until = until,
        _ => turns.push(Turn { thread, until }),
    }
}

/// Truncates turns so that they end with an event.
fn cut(turns: &mut Vec<Turn>, event: EventId) {
    let has = |it: &Turn| it.thread == event.thread && it.until > event.index;
    if let Some(at) = turns.iter().position(has) {
        turns.truncate(at + 1);
        turns[at].until = event.index + 1;
    }
}

#[cfg(test)]
mod tests;
