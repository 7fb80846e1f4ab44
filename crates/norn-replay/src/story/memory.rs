//! The story of a memory error: what was done to which block, and what had been done to it before.

use norn_model::{Event, MemoryFault, Op, ThreadId};
use norn_trace::{MemoryError, Outcome};
use serde::Serialize;

use super::guide::{Guide, Step, hexadecimal};

/// Memory was used wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Misuse {
    /// How.
    pub fault: MemoryFault,
    /// By whom, and where.
    pub by: Step,
    /// The address.
    #[serde(serialize_with = "hexadecimal")]
    pub address: u64,
    /// The block that it is about, if there is one.
    pub block: Option<Block>,
    /// Where it was destroyed, if it is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroyed: Option<Step>,
}

/// A heap block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Its size.
    pub size: u64,
    /// Where the address is, from the block's start.
    pub offset: i64,
    /// Where it was allocated.
    pub allocated: Step,
    /// Where it was freed first.
    pub freed: Option<Step>,
}

pub(super) fn tell(guide: &Guide<'_>, fault: MemoryFault, outcome: &Outcome) -> Option<Misuse> {
    let error = outcome.memory?;
    Some(Misuse {
        fault,
        by: guide.next(ThreadId(outcome.thread), error.pc),
        address: error.addr,
        block: block(guide, error),
        destroyed: (fault == MemoryFault::UseAfterDestroy)
            .then(|| destroyed(guide, error))
            .flatten(),
    })
}

/// The last event that destroyed an object.
fn destroyed(guide: &Guide<'_>, error: MemoryError) -> Option<Step> {
    let is = |it: &Event| matches!(it.op, Op::Destroy { object, .. } if object == error.addr);
    guide.scene.trace.merged().filter(is).last().map(|it| guide.step(&it))
}

fn block(guide: &Guide<'_>, error: MemoryError) -> Option<Block> {
    let (mut allocated, mut freed): (Option<(u64, Event)>, Option<Event>) = (None, None);
    for event in guide.scene.trace.merged() {
        match event.op {
            Op::Alloc { addr, size } if addr == error.block => {
                (allocated, freed) = (Some((size, event)), None);
            }
            // The second free, if that is the error, may have been noted as well.
            Op::Free { addr } if addr == error.block => freed = freed.or(Some(event)),
            _ => {}
        }
    }
    let (size, event) = allocated?;
    Some(Block {
        size,
        offset: error.addr.wrapping_sub(error.block).cast_signed(),
        allocated: guide.step(&event),
        freed: freed.map(|it| guide.step(&it)),
    })
}
