//! What a thread looked at last, and who made it so.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{AtomicOp, Event, Op, ThreadId, Value};
use norn_resolve::Place as Region;
use serde::Serialize;

use super::{
    guide::{Guide, Step, Thing, value_text},
    past::{self, Past},
};

/// Something that a thread looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Look {
    /// What.
    pub object: Thing,
    /// What it saw, if that is known.
    #[serde(serialize_with = "value_text")]
    pub value: Option<u128>,
    /// The same as the variable's type has it, if that is known.
    #[serde(skip)]
    pub shown: Option<String>,
    /// Who wrote there last; nobody if it is as it was at the start.
    pub written: Option<Writing>,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Writing {
    /// By whom, and where.
    #[serde(flatten)]
    pub step: Step,
    /// What, if that is known.
    #[serde(serialize_with = "value_text")]
    pub value: Option<u128>,
    /// The same as the variable's type has it, if that is known.
    #[serde(skip)]
    pub shown: Option<String>,
}

/// The last things that threads looked at, up to `most` different ones each.
pub(super) fn looks(
    guide: &Guide<'_>,
    past: &Past,
    threads: &[ThreadId],
    most: usize,
) -> BTreeMap<ThreadId, Vec<Look>> {
    let seen: BTreeMap<_, _> =
        threads.iter().map(|id| (*id, seen(guide, past, *id, most))).collect();
    let wanted: BTreeSet<(u64, u64)> =
        seen.values().flatten().map(|it| (it.addr, it.size)).collect();
    let writes = writes(guide, &wanted);
    let look = |it: &Seen| Look {
        object: guide.thing(it.addr, it.size),
        value: it.value,
        shown: guide.read(it.addr, it.size, it.value),
        written: writes.get(&it.addr).map(|event| {
            let value = event.op.access().and_then(|it| it.write.flatten());
            let shown = guide.read(it.addr, it.size, value);
            Writing { step: guide.step(event), value, shown }
        }),
    };
    seen.iter().map(|(id, it)| (*id, it.iter().map(look).collect())).collect()
}

struct Seen {
    addr: u64,
    size: u64,
    value: Value,
}

/// What a thread looked at, the last first; its own stack is nobody else's business.
fn seen(guide: &Guide<'_>, past: &Past, thread: ThreadId, most: usize) -> Vec<Seen> {
    let mut found: Vec<Seen> = Vec::new();
    for event in past.threads.get(&thread).into_iter().flat_map(|it| it.recent.iter().rev()) {
        let Some((addr, size, value)) = read(&event.op) else { continue };
        let own =
            matches!(guide.memory.place(addr), Some(Region::Stack(it)) if it.thread == thread);
        if found.len() < most
            && !own
            && guide.is_own(event)
            && !found.iter().any(|it| it.addr == addr)
        {
            found.push(Seen { addr, size, value });
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
fn writes(guide: &Guide<'_>, wanted: &BTreeSet<(u64, u64)>) -> BTreeMap<u64, Event> {
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let touches = |at: u64, len: u64, (addr, size): (u64, u64)| {
        at < addr.saturating_add(size) && addr < at.saturating_add(len)
    };
    past::last_of(&guide.scene.trace, |event, found| {
        let Some((at, len)) = write(&event.op) else { return };
        found.extend(wanted.iter().filter(|it| touches(at, len, **it)).map(|it| it.0));
    })
}
