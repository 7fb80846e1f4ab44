//! What a thread checks before it waits.
//!
//! A correct wait checks a predicate and begins without releasing the mutex in between; and a
//! correct signal comes after the predicate was changed under the mutex. Then a thread that begins
//! to wait after the signal sees the change, and does not wait.

use norn_model::{AtomicOp, LockEffect, MemoryAccess, Op, Trace, Value};
use rustc_hash::FxHashMap;

/// Number of events that are examined before a wait or a signal.
const MAX_EVENTS: usize = 1_000;

/// A thread, and one of its events.
type At = (u16, u32);
/// An address and its value.
type AddressValue = (u64, Value);

/// Finds what threads read before they wait and write before they signal.
pub(crate) struct Checks<'a> {
    trace: &'a Trace,
    /// By signal and mutex: the earlier writes under the mutex, address and value.
    writes: FxHashMap<(At, u64), Vec<AddressValue>>,
}

impl<'a> Checks<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        Checks { trace, writes: FxHashMap::default() }
    }

    /// Whether a thread that begins to wait here would not wait after the signal.
    pub(crate) fn would_prevent(&mut self, begin: At, mutex: u64, signal: At) -> bool {
        let trace = self.trace;
        let writes = self.writes.entry((signal, mutex));
        let writes = writes.or_insert_with(|| protected_writes(trace, signal, mutex));
        checked_reads(trace, begin, mutex).any(|(addr, seen)| {
            // The last change counts.
            writes.iter().find(|it| it.0 == addr).is_some_and(|it| it.1 != seen || seen.is_none())
        })
    }
}

/// The reads of a thread in the critical section that ends with the wait, the last first.
fn checked_reads(
    trace: &Trace,
    (thread, index): At,
    mutex: u64,
) -> impl Iterator<Item = AddressValue> {
    let events = &trace.threads[usize::from(thread)].events[..index as usize];
    let section =
        events.iter().rev().take(MAX_EVENTS).take_while(move |it| !acquires(&it.op, mutex));
    section.filter_map(|it| {
        if let Op::Atomic { addr, op: AtomicOp::Load(value), .. } = it.op {
            return Some((addr, Some(value)));
        }
        if let Op::Read { addr, value, .. } = it.op { Some((addr, value)) } else { None }
    })
}

/// The writes of a thread under the mutex before it signals, the last first.
fn protected_writes(trace: &Trace, (thread, index): At, mutex: u64) -> Vec<AddressValue> {
    let events = &trace.threads[usize::from(thread)].events[..index as usize];
    // Backwards, a lock is held from its release to its acquisition. It is also held at the signal
    // if it is not released between its last acquisition and the signal.
    let uses_mutex = |op: &Op| acquires(op, mutex) || releases(op, mutex);
    let last = events.iter().rev().take(MAX_EVENTS).find(|it| uses_mutex(&it.op));
    let mut held = last.is_some_and(|it| acquires(&it.op, mutex));
    let mut writes = Vec::new();
    for event in events.iter().rev().take(MAX_EVENTS) {
        held = (held || releases(&event.op, mutex)) && !acquires(&event.op, mutex);
        if let Some(MemoryAccess { addr, write: Some(value), .. }) = event.op.access()
            && held
        {
            writes.push((addr, value));
        }
    }
    writes
}

fn acquires(op: &Op, mutex: u64) -> bool {
    matches!(op.effect().lock(), Some(LockEffect::Acquire { lock, .. }) if lock == mutex)
}

fn releases(op: &Op, mutex: u64) -> bool {
    matches!(op.effect().lock(), Some(LockEffect::Release { lock, .. }) if lock == mutex)
}
