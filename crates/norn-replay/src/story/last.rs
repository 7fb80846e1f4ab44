//! The last events before a failure, in their order, and other events as reports show them.

use std::collections::BTreeSet;

use norn_model::{AtomicOp, Event, EventId, LockMode, Op, Value};
use norn_report::{Action, EventRow, Number};
use norn_resolve::Memory;

use crate::Scene;

use super::{observed_value::write, past::Past, size, symbolizer::Symbolizer};

/// Events that are shown, at most.
const MOST: usize = 20;

/// The last events.
pub(super) fn events(symbols: &Symbolizer<'_>, past: &Past) -> Vec<EventRow> {
    let shown = past.last.iter().rev().filter(|it| is_shown(symbols, &it.0));
    let mut last: Vec<_> =
        shown.take(MOST).map(|(event, times)| make(symbols, event, *times)).collect();
    last.reverse();
    last
}

/// Some events of a run, in their order.
pub fn rows(scene: &Scene, wanted: &BTreeSet<EventId>) -> Vec<(EventId, EventRow)> {
    let mut symbols = Symbolizer { scene, memory: Memory::default() };
    let mut found = Vec::new();
    for event in scene.trace.merged() {
        if found.len() == wanted.len() {
            break;
        }
        symbols.memory.arrive(&event);
        // An event that frees memory is named after the memory that it frees.
        let row = wanted.contains(&event.id).then(|| make(&symbols, &event, 1));
        symbols.memory.learn(&event);
        found.extend(row.map(|it| (event.id, it)));
    }
    found
}

/// One event of a run. Memory on the heap and on stacks has no names here, which would take a walk
/// through the trace.
pub fn row(scene: &Scene, event: &Event) -> EventRow {
    make(&Symbolizer { scene, memory: Memory::default() }, event, 1)
}

/// What a library does for itself explains nothing.
fn is_shown(symbols: &Symbolizer<'_>, event: &Event) -> bool {
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
    !chore || symbols.is_own(event)
}

fn make(symbols: &Symbolizer<'_>, event: &Event, times: u64) -> EventRow {
    let placed = !matches!(event.op, Op::Begin { .. } | Op::End | Op::HandlerEnd);
    let value = value(&event.op);
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
        shown: place_of(&event.op).and_then(|(addr, size)| symbols.read(addr, size, value)),
        times,
        at: placed.then(|| symbols.place(event)).flatten(),
        step: None,
    }
}

/// Which bytes are read or written.
fn place_of(op: &Op) -> Option<(u64, u64)> {
    match *op {
        Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => Some((addr, size)),
        Op::Atomic { addr, size, .. } => Some((addr, size.into())),
        _ => None,
    }
}

fn value(op: &Op) -> Value {
    match *op {
        Op::Read { value, .. } => value,
        Op::Atomic { op: AtomicOp::Load(value), .. } => Some(value),
        Op::Atomic { op: AtomicOp::CasFailed { seen, .. }, .. } => Some(seen),
        _ => write(op).and_then(|it| it.2),
    }
}

/// What an operation is done to.
fn object(symbols: &Symbolizer<'_>, op: &Op) -> Option<String> {
    let on = |addr, size| Some(symbols.object(addr, size).name);
    match *op {
        Op::Fork(id) | Op::Join(id) | Op::Detach(id) | Op::Cancel(id) => Some(symbols.thread(id).0),
        Op::HandlerBegin { signal } => Some(signal.to_string()),
        Op::Acquire { lock, mode, .. }
        | Op::AcquireFailed { lock, mode, .. }
        | Op::Release { lock, mode } => on(lock, size::lock(mode)),
        Op::WaitRelease { lock } => on(lock, size::lock(LockMode::Mutex)),
        Op::Wait { cond, .. }
        | Op::WaitAcquire { cond, .. }
        | Op::Signal { cond }
        | Op::Broadcast { cond } => on(cond, size::COND),
        Op::BarrierEnter { barrier } | Op::BarrierLeave { barrier, .. } => {
            on(barrier, size::BARRIER)
        }
        Op::SemPost { semaphore }
        | Op::SemWait { semaphore, .. }
        | Op::SemFailed { semaphore, .. } => on(semaphore, size::SEMAPHORE),
        Op::OnceBegin { once } | Op::OnceEnd { once, .. } | Op::OnceDone { once } => on(once, 1),
        Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => on(addr, size),
        Op::Atomic { addr, size, .. } => on(addr, size.into()),
        Op::HappensBefore { object } | Op::HappensAfter { object } => on(object, 1),
        Op::Free { addr } => {
            let block = symbols.object(addr, 1).name;
            Some(block.trim_start_matches("freed ").to_owned())
        }
        Op::Map { addr, .. } | Op::Unmap { addr, .. } => on(addr, 1),
        Op::Init { object, class, .. } | Op::Destroy { object, class } => {
            on(object, size::of(class))
        }
        Op::Call { function: name, .. }
        | Op::Return { function: name, .. }
        | Op::Mark { name, .. } => Some(symbols.name(name)),
        Op::ProcessFork { process } => Some(process.to_string()),
        Op::Exit { status } => Some(status.to_string()),
        Op::Begin { .. }
        | Op::End
        | Op::HandlerEnd
        | Op::Fence(_)
        | Op::Alloc { .. }
        | Op::RegionBegin
        | Op::RegionEnd
        | Op::Sleep { .. }
        | Op::Yield
        | Op::Exec
        | Op::Abort => None,
    }
}
