//! The values that a thread read last, and the writes that stored them.

use std::collections::BTreeMap;

use norn_frontend::Region;
use norn_model::{AtomicOp, Event, EventId, Op, ThreadId, Value};
use norn_report::{Number, ObservedValue, Writing};

use super::{history::RunHistory, symbolizer::Symbolizer};

/// The last values that threads read, of up to `most` different variables each.
pub(super) fn reads(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    threads: &[ThreadId],
    most: usize,
) -> BTreeMap<ThreadId, Vec<ObservedValue>> {
    let seen: BTreeMap<_, _> =
        threads.iter().map(|id| (*id, seen(symbols, history, *id, most))).collect();
    let writes = writes(symbols, seen.values().flatten());
    let read = |it: &ReadValue| ObservedValue {
        object: symbols.object(it.addr, it.size).before_free(),
        value: it.value.map(Number),
        shown: symbols.read(it.addr, it.size, it.value),
        written: writes.get(&it.event).map(|event| {
            let value = event.op.access().and_then(|it| it.write.flatten());
            let shown = symbols.read(it.addr, it.size, value);
            Writing { step: symbols.step(event), value: value.map(Number), shown }
        }),
    };
    seen.iter().map(|(id, it)| (*id, it.iter().map(read).collect())).collect()
}

struct ReadValue {
    event: EventId,
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
            found.push(ReadValue { event: event.id, addr, size, value });
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

/// The last write to any byte that each read has seen, by the read. Later writes do not explain it.
fn writes<'a>(
    symbols: &Symbolizer<'_>,
    reads: impl Iterator<Item = &'a ReadValue>,
) -> BTreeMap<EventId, Event> {
    let mut open: Vec<&ReadValue> = reads.collect();
    let mut last = BTreeMap::new();
    let mut events = symbols.scope.events(&symbols.symbolized.trace);
    while let (false, Some(event)) = (open.is_empty(), events.next()) {
        open.retain(|it| it.event != event.id);
        let Some((at, len)) = write(&event.op) else { continue };
        let touched = open
            .iter()
            .filter(|it| at < it.addr.saturating_add(it.size) && it.addr < at.saturating_add(len));
        last.extend(touched.map(|it| (it.event, event)));
    }
    // What was read may not have the last ones.
    let interrupted = symbols.scope.is_interrupted(&symbols.symbolized.trace);
    if interrupted { BTreeMap::new() } else { last }
}
