//! The place of the call of `exit`.

use norn_frontend::Memory;
use norn_model::{Event, Location, Op};

use super::symbolizer::Symbolizer;
use crate::SymbolizedTrace;

/// The call of `exit` and its callers, innermost first. If the program itself does not call `exit`,
/// because it returns from `main`, the last event of that thread in the program's own code.
pub fn exit_calls(symbolized: &SymbolizedTrace) -> Vec<Location> {
    let symbols = Symbolizer { symbolized, memory: Memory::default() };
    let mut exit: Option<Event> = None;
    let mut last: Option<Event> = None;
    for event in symbolized.trace.merged() {
        if matches!(event.op, Op::Exit { .. }) {
            exit = Some(event);
        }
    }
    let thread = exit.as_ref().map(|it| it.id.thread);
    if let Some(exit) = exit.filter(|it| symbols.is_own(it)) {
        return symbols.step(&exit).stack;
    }
    for event in symbolized.trace.merged() {
        if thread.is_none_or(|it| it == event.id.thread) && symbols.is_own(&event) {
            last = Some(event);
        }
    }
    last.map(|it| symbols.step(&it).stack).unwrap_or_default()
}
