//! The last events before a failure, in their order.

use std::collections::BTreeSet;

use norn_model::{AtomicOp, Event, EventId, LockMode, Op, ThreadName, Value, WokenBy};
use norn_resolve::Memory;
use serde::Serialize;

use crate::Scene;

use super::{
    guide::{Guide, Place, value_text},
    look::write,
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
    let (what, object) = words(guide, &event.op);
    let places = !matches!(event.op, Op::Begin { .. } | Op::End | Op::HandlerEnd);
    Moment {
        thread: guide.thread(event.id.thread),
        event: event.id.index,
        what,
        object,
        value: value(&event.op),
        shown: place_of(&event.op)
            .and_then(|(addr, size)| guide.read(addr, size, value(&event.op))),
        times,
        at: places.then(|| guide.place(event)).flatten(),
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

/// What is done, to what: in the words that schedules use.
fn words(guide: &Guide<'_>, op: &Op) -> (&'static str, Option<String>) {
    let on = |word, addr, size| (word, Some(guide.thing(addr, size).name));
    let who = |word, id| (word, Some(guide.thread(id).0));
    match *op {
        Op::Begin { .. } => ("begins", None),
        Op::End => ("ends", None),
        Op::Fork(id) => who("create", id),
        Op::Join(id) => who("join", id),
        Op::Detach(id) => who("detach", id),
        Op::Cancel(id) => who("cancel", id),
        Op::HandlerBegin { signal } => ("handler of signal", Some(signal.to_string())),
        Op::HandlerEnd => ("handler ends", None),
        Op::Acquire { lock, mode, .. } => on("lock", lock, size::lock(mode)),
        Op::AcquireFailed { lock, mode, .. } => on("lock not given", lock, size::lock(mode)),
        Op::Release { lock, mode } => on("unlock", lock, size::lock(mode)),
        Op::WaitRelease { lock } => on("wait unlocks", lock, size::lock(LockMode::Mutex)),
        Op::Wait { cond, .. } => on("wait", cond, size::COND),
        Op::WaitAcquire { cond, woken: WokenBy::Timeout, .. } => {
            on("wait times out", cond, size::COND)
        }
        Op::WaitAcquire { cond, .. } => on("wake", cond, size::COND),
        Op::Signal { cond } => on("signal", cond, size::COND),
        Op::Broadcast { cond } => on("broadcast", cond, size::COND),
        Op::BarrierEnter { barrier } => on("barrier", barrier, size::BARRIER),
        Op::BarrierLeave { barrier, .. } => on("behind barrier", barrier, size::BARRIER),
        Op::SemPost { semaphore } => on("sem-post", semaphore, size::SEMAPHORE),
        Op::SemWait { semaphore, .. } => on("sem-wait", semaphore, size::SEMAPHORE),
        Op::SemFailed { semaphore, .. } => on("sem-wait failed", semaphore, size::SEMAPHORE),
        Op::OnceBegin { once } => on("once begins", once, 1),
        Op::OnceEnd { once, .. } => on("once ends", once, 1),
        Op::OnceDone { once } => on("once was done", once, 1),
        Op::Read { addr, size, .. } => on("read", addr, size),
        Op::Write { addr, size, .. } => on("write", addr, size),
        Op::Atomic { addr, size, op, .. } => on(atomic(op), addr, size.into()),
        Op::Fence(_) => ("fence", None),
        Op::HappensBefore { object } => on("happens-before", object, 1),
        Op::HappensAfter { object } => on("happens-after", object, 1),
        Op::Alloc { size, .. } => ("alloc", Some(format!("{size} bytes"))),
        Op::Free { addr } => {
            let block = guide.thing(addr, 1).name;
            ("free", Some(block.trim_start_matches("freed ").to_owned()))
        }
        Op::Map { addr, .. } => on("map", addr, 1),
        Op::Unmap { addr, .. } => on("unmap", addr, 1),
        Op::Init { object, class, .. } => on("init", object, size::of(class)),
        Op::Destroy { object, class } => on("destroy", object, size::of(class)),
        Op::Call { function, .. } => ("call", Some(guide.name(function))),
        Op::Return { function, .. } => ("return from", Some(guide.name(function))),
        Op::Mark { name, .. } => ("mark", Some(guide.name(name))),
        Op::RegionBegin => ("atomic region begins", None),
        Op::RegionEnd => ("atomic region ends", None),
        Op::Sleep { .. } => ("sleep", None),
        Op::Yield => ("yield", None),
        Op::ProcessFork { process } => ("fork process", Some(process.to_string())),
        Op::Exec => ("exec", None),
        Op::Exit { status } => ("exit", Some(status.to_string())),
        Op::Abort => ("abort", None),
    }
}

fn atomic(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Load(_) => "atomic read",
        AtomicOp::Store(_) => "atomic write",
        AtomicOp::Rmw { .. } => "atomic change",
        AtomicOp::Cas { .. } => "atomic exchange",
        AtomicOp::CasFailed { .. } => "atomic exchange failed",
    }
}
