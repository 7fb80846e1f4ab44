//! The place of the call of `exit`.

use std::collections::{BTreeMap, HashMap};

use norn_model::{Event, Location, Op, ThreadId};

use super::symbolizer::Symbolizer;
use crate::SymbolizedTrace;

/// The call of `exit` and its callers, innermost first. If the program itself does not call `exit`,
/// because it returns from `main`, the last event of that thread in the program's own code.
pub fn exit_calls(symbolized: &SymbolizedTrace) -> Vec<Location> {
    let symbols = Symbolizer::new(symbolized);
    let mut exit: Option<Event> = None;
    let mut last: BTreeMap<ThreadId, (usize, Event)> = BTreeMap::new();
    // To look a place up takes much longer than to decode an event, and a run has few places.
    let mut own = HashMap::new();
    for (order, event) in symbolized.trace.merged().enumerate() {
        // Exit handlers may be followed by another such event.
        if matches!(event.op, Op::Exit { .. }) && exit.is_none() {
            exit = Some(event);
        }
        if *own.entry((event.site, event.stack)).or_insert_with(|| symbols.is_own(&event)) {
            last.insert(event.id.thread, (order, event));
        }
    }
    let thread = exit.as_ref().map(|it| it.id.thread);
    if let Some(exit) = exit.filter(|it| own.get(&(it.site, it.stack)) == Some(&true)) {
        return symbols.step(&exit).stack;
    }
    let last = match thread {
        Some(thread) => last.get(&thread),
        None => last.values().max_by_key(|it| it.0),
    };
    last.map(|it| symbols.step(&it.1).stack).unwrap_or_default()
}
