//! The values that a thread read last, and the writes that stored them.

use std::collections::{BTreeMap, BTreeSet};

use norn_frontend::Region;
use norn_model::{AtomicOp, Event, Op, ThreadId, Value};
use norn_report::{Number, ObservedValue, Writing};

use super::{
    history::{self, RunHistory},
    symbolizer::Symbolizer,
};

/// The last values that threads read, of up to `most` different variables each.
pub(super) fn reads(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    threads: &[ThreadId],
    most: usize,
) -> BTreeMap<ThreadId, Vec<ObservedValue>> {
    let seen: BTreeMap<_, _> =
        threads.iter().map(|id| (*id, seen(symbols, history, *id, most))).collect();
    let wanted: BTreeSet<(u64, u64)> =
        seen.values().flatten().map(|it| (it.addr, it.size)).collect();
    let writes = writes(symbols, &wanted);
    let read = |it: &ReadValue| ObservedValue {
        object: symbols.object(it.addr, it.size).before_free(),
        value: it.value.map(Number),
        shown: symbols.read(it.addr, it.size, it.value),
        written: writes.get(&it.addr).map(|event| {
            let value = event.op.access().and_then(|it| it.write.flatten());
            let shown = symbols.read(it.addr, it.size, value);
            Writing { step: symbols.step(event), value: value.map(Number), shown }
        }),
    };
    seen.iter().map(|(id, it)| (*id, it.iter().map(read).collect())).collect()
}

struct ReadValue {
    addr: u64,
    size: u64,
    value: Value,
}

/// The values that a thread read, the last first, except from its own stack, which no other thread
/// writes.
fn seen(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    thread: ThreadId,
    most: usize,
) -> Vec<ReadValue> {
    let mut found: Vec<ReadValue> = Vec::new();
    for event in history.threads.get(&thread).into_iter().flat_map(|it| it.recent.iter().rev()) {
        let Some((addr, size, value)) = read(&event.op) else { continue };
        let own =
            matches!(symbols.memory.region(addr), Some(Region::Stack(it)) if it.thread == thread);
        if found.len() < most
            && !own
            && symbols.is_own(event)
            && !found.iter().any(|it| it.addr == addr)
        {
            found.push(ReadValue { addr, size, value });
        }
    }
    found
}

fn read(op: &Op) -> Option<(u64, u64, Value)> {
    match *op {
        Op::Read { addr, size, value, .. } => Some((addr, size, value)),
        Op::Atomic { addr, size, op, .. } => match op {
            AtomicOp::Load(value) | AtomicOp::CasFailed { seen: value, .. } => {
                Some((addr, size.into(), Some(value)))
            }
            AtomicOp::Store(_) | AtomicOp::Rmw { .. } | AtomicOp::Cas { .. } => None,
        },
        _ => None,
    }
}

/// The bytes that an operation writes.
fn write(op: &Op) -> Option<(u64, u64)> {
    op.access().filter(|it| it.write.is_some()).map(|it| (it.addr, it.size))
}

/// The last write to any byte of each range, by the range's address.
fn writes(symbols: &Symbolizer<'_>, wanted: &BTreeSet<(u64, u64)>) -> BTreeMap<u64, Event> {
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let touches = |at: u64, len: u64, (addr, size): (u64, u64)| {
        at < addr.saturating_add(size) && addr < at.saturating_add(len)
    };
    let scope = (&symbols.symbolized.trace, symbols.scope);
    history::last_of(scope, |event, found| {
        let Some((at, len)) = write(&event.op) else { return };
        found.extend(wanted.iter().filter(|it| touches(at, len, **it)).map(|it| it.0));
    })
}
