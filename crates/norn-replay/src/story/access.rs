//! Accesses to memory as reports show them: with names, values and call stacks.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{Event, EventId, Op, Operand, ThreadId};
use norn_report::{Access, Action, Number, Object};

use super::{last::value, symbolizer::Symbolizer};
use crate::SymbolizedTrace;

/// Some accesses of a run, in one pass over its trace. Events that access no memory are left out.
pub fn accesses(
    symbolized: &SymbolizedTrace,
    wanted: &BTreeSet<EventId>,
) -> BTreeMap<EventId, Access> {
    let mut symbols = Symbolizer::new(symbolized);
    let mut found = BTreeMap::new();
    let mut left = wanted.len();
    for event in symbolized.trace.merged() {
        if left == 0 {
            break;
        }
        symbols.memory.arrive(&event);
        if wanted.contains(&event.id) {
            left -= 1;
            // An event that frees memory is named after the memory that it frees.
            found.extend(access(&symbols, &event).map(|it| (event.id, it)));
        }
        symbols.memory.learn(&event);
    }
    found
}

/// Accesses to a variable that are not in a trace, by the thread and the place in the code of each, and
/// whether it writes. Neither their values nor the calls that led to them are known.
pub fn observed_accesses(
    symbolized: &SymbolizedTrace,
    addr: u64,
    accesses: impl IntoIterator<Item = (ThreadId, u64, bool)>,
) -> Vec<Access> {
    let symbols = Symbolizer::new(symbolized);
    let variable = Object { address: None, ..symbols.object(addr, 1) };
    let access = |(thread, pc, write): (ThreadId, u64, bool)| {
        let stack = symbolized.locations(pc);
        Access {
            thread: symbolized.thread(thread),
            action: if write { Action::Write } else { Action::Read },
            event: None,
            stuck: false,
            variable: variable.clone(),
            value: None,
            shown: None,
            frames: stack.clone(),
            stack,
            locks: Vec::new(),
        }
    };
    accesses.into_iter().map(access).collect()
}

fn access(symbols: &Symbolizer<'_>, event: &Event) -> Option<Access> {
    let accessed = event.op.access();
    let value = accessed.as_ref().and_then(value);
    let step = symbols.step(event);
    Some(Access {
        thread: step.thread,
        action: Action::from(&event.op),
        event: None,
        stuck: false,
        variable: variable(symbols, &event.op)?,
        value: value.map(Number),
        shown: accessed.and_then(|it| symbols.read(it.addr, it.size, value)),
        frames: step.stack.clone(),
        stack: step.stack,
        locks: Vec::new(),
    })
}

/// The accessed memory. Addresses differ between runs, so they are left out.
fn variable(symbols: &Symbolizer<'_>, op: &Op) -> Option<Object> {
    let object = match op.operand() {
        Operand::Memory(addr, size) => symbols.object(addr, size),
        Operand::Freed(addr) => symbols.object(addr, 1),
        Operand::None
        | Operand::Allocation(_)
        | Operand::Thread(_)
        | Operand::Object(..)
        | Operand::Channel(_)
        | Operand::Name(_)
        | Operand::Number(_) => return None,
    };
    Some(Object { address: None, ..object })
}
