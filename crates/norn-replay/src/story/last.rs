//! The last events before a failure, in their order.

use std::collections::BTreeSet;

use norn_model::{Event, EventId, MemoryAccess, Op, Operand, ThreadName, Value, WokenBy};
use norn_resolve::Memory;
use serde::Serialize;

use crate::Scene;

use super::{
    guide::{Guide, Place, value_text},
    past::Past,
    size,
};

/// So many events are told.
const MOST: usize = 20;

/// One of the last events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// Whose.
    pub thread: ThreadName,
    /// Which of its events, from 0.
    pub event: u64,
    /// What was done.
    pub what: &'static str,
    /// To what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The value that was read or written, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "value_text")]
    pub value: Option<u128>,
    /// The same as the variable's type has it, if that is known.
    #[serde(skip)]
    pub shown: Option<String>,
    /// How often the same was seen.
    pub times: u64,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

pub(super) fn tell(guide: &Guide<'_>, past: &Past) -> Vec<Moment> {
    let told = past.last.iter().rev().filter(|it| is_told(guide, &it.0));
    let mut last: Vec<_> =
        told.take(MOST).map(|(event, times)| moment(guide, event, *times)).collect();
    last.reverse();
    last
}

/// Some events of a run, in their order.
pub fn moments(scene: &Scene, wanted: &BTreeSet<EventId>) -> Vec<(EventId, Moment)> {
    let mut guide = Guide { scene, memory: Memory::default() };
    let mut told = Vec::new();
    for event in scene.trace.merged() {
        if told.len() == wanted.len() {
            break;
        }
        guide.memory.arrive(&event);
        // What frees memory is told with the memory that it frees.
        let moment = wanted.contains(&event.id).then(|| moment(&guide, &event, 1));
        guide.memory.learn(&event);
        told.extend(moment.map(|it| (event.id, it)));
    }
    told
}

/// What a library does for itself tells nothing.
fn is_told(guide: &Guide<'_>, event: &Event) -> bool {
    let chore = matches!(
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
    !chore || guide.is_own(event)
}

fn moment(guide: &Guide<'_>, event: &Event, times: u64) -> Moment {
    let access = event.op.access();
    let places = !matches!(event.op, Op::Begin { .. } | Op::End | Op::HandlerEnd);
    Moment {
        thread: guide.thread(event.id.thread),
        event: event.id.index,
        what: verb(&event.op),
        object: object(guide, &event.op),
        value: access.as_ref().and_then(value),
        shown: access.and_then(|it| guide.read(it.addr, it.size, value(&it))),
        times,
        at: places.then(|| guide.place(event)).flatten(),
    }
}

/// The value that an access writes, or else reads.
fn value(access: &MemoryAccess) -> Value {
    access.write.or(access.read).flatten()
}

/// What is done, in the words that schedules use.
fn verb(op: &Op) -> &'static str {
    match op {
        Op::WaitAcquire { woken: WokenBy::Timeout, .. } => "wait times out",
        op => op.kind().verb(),
    }
}

/// To what it is done.
fn object(guide: &Guide<'_>, op: &Op) -> Option<String> {
    match op.operand() {
        Operand::None => None,
        Operand::Thread(id) => Some(guide.thread(id).0),
        Operand::Object(addr, class) => Some(guide.thing(addr, size::of(class)).name),
        Operand::Memory(addr, size) => Some(guide.thing(addr, size).name),
        Operand::Allocation(size) => Some(format!("{size} bytes")),
        Operand::Freed(addr) => {
            let block = guide.thing(addr, 1).name;
            Some(block.trim_start_matches("freed ").to_owned())
        }
        Operand::Name(name) => Some(guide.name(name)),
        Operand::Number(number) => Some(number.to_string()),
    }
}
