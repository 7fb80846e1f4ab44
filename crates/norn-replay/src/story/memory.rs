//! The story of a memory error: the invalid access, and where its block was allocated and freed.

use norn_model::{Event, MemoryFault, Op, ThreadId};
use norn_report::{Address, Block, Misuse, Step};
use norn_trace::{MemoryError, Outcome};

use super::symbolizer::Symbolizer;

pub(super) fn explain(
    symbols: &Symbolizer<'_>,
    fault: MemoryFault,
    outcome: &Outcome,
) -> Option<Misuse> {
    let error = outcome.memory?;
    Some(Misuse {
        fault,
        by: symbols.next(ThreadId(outcome.thread), error.pc),
        address: Address(error.addr),
        block: block(symbols, error, fault),
        destroyed: (fault == MemoryFault::UseAfterDestroy)
            .then(|| destroyed(symbols, error))
            .flatten(),
    })
}

/// The last event that destroyed an object.
fn destroyed(symbols: &Symbolizer<'_>, error: MemoryError) -> Option<Step> {
    let is = |it: &Event| matches!(it.op, Op::Destroy { object, .. } if object == error.addr);
    symbols.symbolized.trace.merged().filter(is).last().map(|it| symbols.step(&it))
}

fn block(symbols: &Symbolizer<'_>, error: MemoryError, fault: MemoryFault) -> Option<Block> {
    let (mut allocated, mut freed): (Option<(u64, Event)>, Option<Event>) = (None, None);
    let mut then = Symbolizer::new(symbols.symbolized);
    for event in symbols.symbolized.trace.merged() {
        match event.op {
            Op::Alloc { addr, size } if addr == error.block => {
                (allocated, freed) = (Some((size, event)), None);
            }
            // In a double free, the second free may be in the trace as well.
            Op::Free { addr } if addr == error.block => freed = freed.or(Some(event)),
            _ => {}
        }
        then.memory.learn(&event);
    }
    let (size, event) = allocated?;
    let used = if fault == MemoryFault::DoubleFree { size } else { 1 };
    Some(Block {
        object: then.object(error.addr, used).before_free(),
        size,
        offset: error.addr.wrapping_sub(error.block).cast_signed(),
        allocated: symbols.step(&event),
        freed: freed.map(|it| symbols.step(&it)),
    })
}
