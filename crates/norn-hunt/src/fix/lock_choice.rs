//! The locks that could protect the accesses of a candidate, the most likely one first.
//!
//! A lock that most accesses to a variable hold is most likely meant for it (Savage et al., *Eraser*, 1997, remove locks
//! from the set of a variable at each access that does not hold them; we count, because here at least one
//! access is wrong).

use std::collections::BTreeMap;

use norn_model::{Candidate, EventId, Held, LockEffect, LockMode, Step, Trace};

/// A lock that exists in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExistingLock {
    pub(super) lock: u64,
    pub(super) mode: LockMode,
    /// The first access that holds it.
    pub(super) held_at: EventId,
}

/// The locks that accesses to the candidate's variables hold, those of most accesses first.
pub(super) fn protecting_locks(trace: &Trace, candidate: &Candidate) -> Vec<ExistingLock> {
    let mut counts: BTreeMap<u64, (usize, ExistingLock)> = BTreeMap::new();
    let is_concerned = |addr: u64, end: u64| {
        candidate.steps.iter().any(|it: &Step| (addr..end).contains(&it.addr))
    };
    for thread in &trace.threads {
        let mut held = Held::default();
        for event in &thread.events {
            held.step(&event.op);
            let access = event.op.access().filter(|it| is_concerned(it.addr, it.end()));
            // A lock that is shared excludes no other reader.
            let exclusive = held.iter().filter(|it| access.is_some() && it.1 != LockMode::Read);
            for (lock, mode) in exclusive {
                let first = ExistingLock { lock, mode, held_at: event.id };
                counts.entry(lock).or_insert((0, first)).0 += 1;
            }
        }
    }
    let mut locks: Vec<_> = counts.into_values().collect();
    locks.sort_by_key(|(count, it)| (std::cmp::Reverse(*count), it.lock));
    locks.into_iter().map(|it| it.1).collect()
}

/// Whether a thread holds a lock from one of its events to another one, without a break.
pub(super) fn is_held_throughout(
    trace: &Trace,
    lock: u64,
    (first, last): (EventId, EventId),
) -> bool {
    let Some(thread) = trace.thread(first.thread) else { return false };
    let mut held = Held::default();
    let mut throughout = true;
    for event in thread.events.iter().take_while(|it| it.id.index <= last.index) {
        held.step(&event.op);
        throughout &= event.id.index < first.index || is_exclusive(&held, lock);
        let released = matches!(
            event.op.effect().lock(),
            Some(LockEffect::Release { lock: it, .. }) if it == lock
        );
        throughout &= event.id.index < first.index || !released;
    }
    throughout
}

/// Whether a lock is held, and not shared.
fn is_exclusive(held: &Held, lock: u64) -> bool {
    held.iter().any(|it| it.0 == lock && it.1 != LockMode::Read)
}
