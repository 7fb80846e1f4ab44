//! The last events before a failure, in their order, and other events as reports show them.

use std::collections::{BTreeMap, BTreeSet};

use norn_frontend::Memory;
use norn_model::{Event, EventId, Location, MemoryAccess, Op, Operand, ThreadId, Value};
use norn_report::{Action, EventRow, Number, vocabulary::signal_name};

use crate::SymbolizedTrace;

use super::{history::RunHistory, signal, symbolizer::Symbolizer};

/// Maximum number of events that are shown.
const MAX_EVENTS: usize = 20;

/// The last events.
pub(super) fn events(symbols: &Symbolizer<'_>, history: &RunHistory) -> Vec<EventRow> {
    let shown = history.last.iter().rev().filter(|it| is_shown(symbols, &it.0));
    // Only the last of the accesses that a library makes for one line of the program: a container makes many, and
    // they would leave no room for what the program did before.
    let mut internal: Option<(ThreadId, Option<Location>)> = None;
    let folded = shown.filter(|(event, _)| {
        let access = symbols.is_internal(event).then(|| (event.id.thread, symbols.place(event)));
        let repeats = access.is_some() && access == internal;
        internal = access;
        !repeats
    });
    let mut last: Vec<_> = folded.take(MAX_EVENTS).collect();
    last.reverse();
    let rows = last.iter().map(|(event, times)| make(symbols, event, *times)).collect();
    named_in_time(symbols, &last, rows)
}

/// Names heap blocks as they were at each event: later, a block may be freed, or another one may be at its
/// address. That takes a pass over the trace, so it is done only where an event is about the heap.
fn named_in_time(
    symbols: &Symbolizer<'_>,
    events: &[&(Event, u64)],
    mut rows: Vec<EventRow>,
) -> Vec<EventRow> {
    let is_heap = |op: &Op| match op.operand() {
        Operand::Object(addr, _) | Operand::Memory(addr, _) | Operand::Freed(addr) => {
            symbols.memory.block(addr).is_some()
        }
        _ => false,
    };
    let wanted = events.iter().zip(0..).filter(|it| is_heap(&it.0.0.op));
    let mut wanted: BTreeMap<_, _> = wanted.map(|(it, at)| (it.0.id, at)).collect();
    let Symbolizer { symbolized, scope, .. } = *symbols;
    let mut then = Symbolizer { symbolized, memory: Memory::default(), scope };
    let mut all = scope.events(&symbolized.trace);
    while let (false, Some(event)) = (wanted.is_empty(), all.next()) {
        then.memory.arrive(&event);
        if let Some(at) = wanted.remove(&event.id) {
            rows[at].object = object(&then, &event.op);
        }
        then.memory.learn(&event);
    }
    rows
}

/// Some events of a run, in their order, without those of the runtime.
pub fn rows(symbolized: &SymbolizedTrace, wanted: &BTreeSet<EventId>) -> Vec<(EventId, EventRow)> {
    let mut symbols = Symbolizer::new(symbolized);
    let mut found = Vec::new();
    let mut left = wanted.len();
    for event in symbolized.trace.merged() {
        if left == 0 {
            break;
        }
        symbols.memory.arrive(&event);
        // An event that frees memory is named after the memory that it frees.
        let row = wanted.contains(&event.id).then(|| make(&symbols, &event, 1));
        symbols.memory.learn(&event);
        left -= usize::from(row.is_some());
        let row = row.filter(|_| !is_runtimes(&symbols, &event));
        found.extend(row.map(|it| (event.id, it)));
    }
    found
}

/// One event of a run. Heap blocks and local variables are not named here, because that takes a pass
/// over the trace.
pub fn row(symbolized: &SymbolizedTrace, event: &Event) -> EventRow {
    make(&Symbolizer::new(symbolized), event, 1)
}

/// Whether an event is shown. Internal accesses of a library do not explain a failure.
fn is_shown(symbols: &Symbolizer<'_>, event: &Event) -> bool {
    let internal = matches!(
        event.op,
        Op::Read { .. }
            | Op::Write { .. }
            | Op::Alloc { .. }
            | Op::Free { .. }
            | Op::Map { .. }
            | Op::Unmap { .. }
            | Op::Init { .. }
            | Op::OnceBegin { .. }
            | Op::OnceEnd { .. }
            | Op::OnceDone { .. }
    );
    (!internal || symbols.is_own(event)) && !is_runtimes(symbols, event)
}

/// Whether the runtime itself synchronised or counted here: such an operation has no place in the
/// program. OpenMP's constructs have some.
fn is_runtimes(symbols: &Symbolizer<'_>, event: &Event) -> bool {
    let synchronises =
        matches!(event.op, Op::Atomic { .. } | Op::SemPost { .. } | Op::SemWait { .. });
    let site = symbols.symbolized.trace.site(event.site);
    synchronises && site.is_some_and(|it| it.pc == 0)
}

fn make(symbols: &Symbolizer<'_>, event: &Event, times: u64) -> EventRow {
    let placed = !matches!(event.op, Op::Begin { .. } | Op::End | Op::HandlerEnd);
    let access = event.op.access();
    let value = access.as_ref().and_then(value);
    EventRow {
        thread: symbols.thread(event.id.thread),
        event: event.id.index,
        action: Action::from(&event.op),
        object: object(symbols, &event.op),
        size: match event.op {
            Op::Alloc { size, .. } => Some(size),
            _ => None,
        },
        value: value.map(Number),
        shown: access.and_then(|it| symbols.read(it.addr, it.size, value)),
        times,
        at: placed.then(|| symbols.place(event)).flatten(),
        step: None,
        switch: None,
    }
}

/// The value that an access writes, or else reads.
pub(super) fn value(access: &MemoryAccess) -> Value {
    access.write.or(access.read).flatten()
}

/// The name of the operand of an operation.
fn object(symbols: &Symbolizer<'_>, op: &Op) -> Option<String> {
    match op.operand() {
        // The size of an allocation has a field of its own.
        Operand::None | Operand::Allocation(_) => None,
        Operand::Thread(id) => Some(symbols.thread(id).0),
        Operand::Object(addr, class) => Some(symbols.primitive(addr, class).full_name()),
        Operand::Memory(addr, size) => Some(symbols.object(addr, size).full_name()),
        Operand::Freed(addr) => {
            let size = symbols.memory.block(addr).map_or(1, |it| it.1);
            Some(symbols.object(addr, size).before_free().full_name())
        }
        Operand::Channel(number) => Some(match signal::of(op) {
            Some((signal, _)) => signal_name(signal),
            None => format!("channel {number}"),
        }),
        Operand::Name(name) => Some(symbols.name(name)),
        Operand::Number(number) => Some(number.to_string()),
    }
}
