//! Interleaving patterns that the runtime collects: what it is asked for, and what it has found.

use std::sync::atomic::Ordering;

use norn_frontend::Collect;
use norn_trace::{Collected, CollectedAccess, CollectedPattern};
use norn_window::{Access as _, Counter, FoundPattern, Shared, back_off};

use crate::arena::Arena;

/// Tells the runtime what to collect, before the subject starts.
pub(crate) fn request(arena: &Arena, collect: &Collect) {
    let Some(shared) = shared(arena) else { return };
    let set = |counter, value| shared.counter(counter).store(value, Ordering::Relaxed);
    set(Counter::Slots, collect.window as u64);
    if let Some(delays) = collect.delays {
        set(Counter::DelaySeed, delays.seed);
        set(Counter::DelayEvery, delays.every);
        set(Counter::DelayLimit, u64::try_from(delays.longest.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// What the runtime has found. The subject has ended, however it did: what is left in its windows is
/// drained here. None if it could not collect anything.
pub(crate) fn read(arena: &Arena, collect: &Collect) -> Option<Collected> {
    let shared = shared(arena)?;
    let get = |counter| shared.counter(counter).load(Ordering::Relaxed);
    let process = u32::try_from(get(Counter::Process)).unwrap_or(0).checked_sub(1)?;
    shared.finish();
    let mut found: Vec<_> = shared.patterns().collect();
    found.sort_by_key(|it| (it.moment(), it.kind(), codes(&shared, it)));
    Some(Collected {
        window: collect.window,
        process,
        patterns: found.iter().map(|it| pattern(&shared, it)).collect(),
        missed: get(Counter::Missed),
        sampled: get(Counter::Sampled),
        left_out: get(Counter::LeftOut) + left_out(arena),
        other_processes: get(Counter::OtherProcesses),
        delayed: get(Counter::Delays),
    })
}

/// Number of accesses that threads left out whose slots have not been used by others since. Threads of
/// other processes count nothing.
fn left_out(arena: &Arena) -> u64 {
    arena.slots().map(|it| back_off::left_out(it.visits())).sum()
}

fn shared(arena: &Arena) -> Option<Shared<'_>> {
    Shared::new(arena.collected(), |_| std::thread::yield_now())
}

fn codes(shared: &Shared<'_>, found: &FoundPattern) -> Vec<u64> {
    found.accesses().iter().map(|it| shared.pc(it)).collect()
}

fn pattern(shared: &Shared<'_>, found: &FoundPattern) -> CollectedPattern {
    let accesses = found.accesses().iter();
    CollectedPattern {
        shape: found.kind().name().to_owned(),
        addr: found.addr,
        accesses: accesses
            .map(|it| CollectedAccess { thread: it.thread(), pc: shared.pc(it) })
            .collect(),
    }
}
