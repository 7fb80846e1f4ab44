//! Deadlocks that other orders of a run allow: threads that wait for each other, and wake-ups that
//! come too early.
//!
//! Lock orders after Havelund (*Using runtime analysis to guide model checking of Java programs*,
//! SPIN 2000), with gates and order as in Bensalem and Havelund (*Dynamic deadlock analysis of
//! multi-threaded programs*, HVC 2005): a cycle counts only if its threads can stand at their
//! [requests](request) at the same time. No lock may be held by two of them, and nothing may order
//! what one has done behind what another has not. Where we differ: a request is whatever a thread
//! can wait in, so [cycles](cycle) may go through joins, conditions, semaphores and barriers, too;
//! and a [signal that nobody hears](wakeup) is a deadlock of its own.

mod check;
mod cycle;
mod request;
mod wakeup;

use std::collections::BTreeSet;

use norn_model::{Access, Candidate, CandidateKind, Op, Scope, SiteId, Step, Trace};

use crate::{
    keep::{Instance, Kept, Key},
    order::Order,
};

use self::{cycle::Cycles, request::Requests, wakeup::Wakeups};

/// What kinds there are, by number.
const KINDS: [CandidateKind; 4] = [
    CandidateKind::LockCycle,
    CandidateKind::WaitHoldingLock,
    CandidateKind::JoinHoldingLock,
    CandidateKind::LostWakeUp,
];
const LOCK_CYCLE: u16 = 0;
const WAIT_HOLDING: u16 = 1;
const JOIN_HOLDING: u16 = 2;
const LOST_WAKE_UP: u16 = 3;

/// What was found, and what was not looked at.
#[derive(Debug, Default)]
pub(crate) struct Deadlocks {
    pub(crate) candidates: Vec<Candidate>,
    /// Requests that were left out, or not looked at to the end: there are too many.
    pub(crate) left_out: u64,
}

/// Looks for deadlocks. Some semaphores are locks.
pub(crate) fn deadlocks(
    trace: &Trace,
    order: &Order,
    semaphores: &BTreeSet<u64>,
    instances: usize,
) -> Deadlocks {
    let requests = Requests::new(trace, order, semaphores);
    let mut kept = Kept::new(instances);
    let mut cycles = Cycles::new(order, &requests);
    cycles.search(|cycle| {
        let (key, instance) = cycle::instance(trace, cycle);
        kept.add(key, instance);
    });
    let left_out = requests.left_out + cycles.left_out;
    Wakeups::new(trace, order).search(|key, instance| {
        kept.add(key, instance);
    });
    let all = kept.sorted().into_iter().flat_map(|(key, instances)| {
        let numbered = instances.into_iter().zip(0..);
        numbered.map(|(it, number)| candidate(trace, &key, &it, number)).collect::<Vec<_>>()
    });
    Deadlocks { candidates: all.collect(), left_out }
}

/// An instance has the places of the stuck events first: as many as its key says.
fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let (stuck, steps) = instance.steps.split_at(usize::from(key.locked));
    let step = |place: &crate::keep::Place| {
        let event = &trace.threads[usize::from(place.thread)].events[place.index as usize];
        let index = event.id.index;
        Step {
            event: event.id,
            site: SiteId(event.site.0),
            addr: place.addr,
            access: access(&event.op),
            region: (index, index),
        }
    };
    Candidate {
        kind: KINDS[usize::from(key.pattern)].clone(),
        adjacent: false,
        steps: steps.iter().map(step).collect(),
        stuck: stuck.iter().map(step).collect(),
        scope: Scope::Single,
        instance: number,
    }
}

fn access(op: &Op) -> Access {
    match op {
        Op::Acquire { mode: norn_model::LockMode::Read, .. } => Access::Share,
        Op::Acquire { .. } => Access::Acquire,
        Op::Signal { .. } | Op::Broadcast { .. } | Op::SemPost { .. } => Access::Signal,
        _ => Access::Wait,
    }
}
