//! What led to a failure, from one pass over the trace: what each thread holds and did last, and
//! what was done to the objects that threads wait for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use norn_frontend::{Memory, Region};
use norn_model::{AtomicOp, Event, Held, Op, ThreadId};
use norn_trace::{Blocked, Trace};

/// Maximum number of events that are kept for each thread, and for all together. A library emits
/// many irrelevant events while it throws an exception or prints a message.
const RECENT: usize = 512;
/// A read-only event repeats an earlier one if there are fewer events than this in between.
const AGAIN: usize = 24;
/// Maximum number of events that are kept for each object; the others are only counted.
const NOTES: usize = 256;

/// What led to a failure.
#[derive(Default)]
pub(super) struct Past {
    pub(super) threads: BTreeMap<ThreadId, Life>,
    pub(super) objects: BTreeMap<u64, History>,
    /// The last events of all, and how often those that change nothing came again.
    pub(super) last: VecDeque<(Event, u64)>,
}

/// One thread so far.
#[derive(Default)]
pub(super) struct Life {
    pub(super) ended: bool,
    held: Held,
    /// Where the locks that it holds were taken.
    pub(super) taken: Vec<(u64, Event)>,
    pub(super) recent: VecDeque<Event>,
}

/// What was done to an object that a thread waits for.
#[derive(Default)]
pub(super) struct History {
    /// What it was initialised with.
    pub(super) detail: Option<u64>,
    /// How often a semaphore went up, and down.
    pub(super) posts: u64,
    pub(super) waits: u64,
    /// The last events on it, each with its place in the order of all.
    pub(super) notes: VecDeque<(u64, Event)>,
}

/// The threads that were blocked at the end.
pub(super) fn blocked(trace: &Trace) -> &[Blocked] {
    let number = trace.process();
    let process = trace.run().processes.iter().find(|it| it.number == number);
    process.map_or(&[], |it| &it.blocked)
}

impl Past {
    /// Goes over a trace once.
    pub(super) fn of(trace: &Trace) -> (Past, Memory) {
        let wanted: BTreeSet<u64> = blocked(trace).iter().map(|it| it.object).collect();
        let (mut past, mut memory) = (Past::default(), Memory::default());
        for (order, event) in (0..).zip(trace.merged()) {
            memory.learn(&event);
            past.threads.entry(event.id.thread).or_default().step(&event);
            if let Some(object) = object(&event.op).filter(|it| wanted.contains(it)) {
                past.objects.entry(object).or_default().note(order, &event);
            }
            if is_shown(&event, &memory) {
                past.remember(&event);
            }
        }
        (past, memory)
    }

    /// A repeated read-only event is only counted.
    fn remember(&mut self, event: &Event) {
        let same =
            |it: &Event| (it.id.thread, it.site, it.op) == (event.id.thread, event.site, event.op);
        let known = is_look(&event.op)
            .then(|| self.last.iter_mut().rev().take(AGAIN).find(|it| same(&it.0)));
        match known.flatten() {
            Some((_, times)) => *times += 1,
            None => push(&mut self.last, (*event, 1), RECENT),
        }
    }
}

/// What a thread does on its own stack concerns no other thread; and that a wait releases its mutex is
/// part of the wait.
fn is_shown(event: &Event, memory: &Memory) -> bool {
    match event.op {
        Op::Read { addr, .. } | Op::Write { addr, .. } => {
            !matches!(memory.region(addr), Some(Region::Stack(it)) if it.thread == event.id.thread)
        }
        Op::WaitRelease { .. } => false,
        _ => true,
    }
}

/// Whether an operation changes nothing.
fn is_look(op: &Op) -> bool {
    matches!(
        op,
        Op::Read { .. }
            | Op::Atomic { op: AtomicOp::Load(_) | AtomicOp::CasFailed { .. }, .. }
            | Op::AcquireFailed { .. }
            | Op::Yield
            | Op::Sleep { .. }
    )
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}

impl Life {
    fn step(&mut self, event: &Event) {
        self.held.step(&event.op);
        match event.op {
            Op::End => self.ended = true,
            Op::Acquire { lock, .. } | Op::WaitAcquire { lock, .. }
                if self.held.depth(lock) == 1 =>
            {
                self.taken.push((lock, *event));
            }
            Op::Release { lock, .. } | Op::WaitRelease { lock } if self.held.depth(lock) == 0 => {
                self.taken.retain(|it| it.0 != lock);
            }
            _ => {}
        }
        push(&mut self.recent, *event, RECENT);
    }
}

impl History {
    fn note(&mut self, order: u64, event: &Event) {
        match event.op {
            Op::Init { detail, .. } => {
                *self = History { detail: Some(detail), ..History::default() };
            }
            Op::SemPost { .. } => self.posts += 1,
            Op::SemWait { .. } => self.waits += 1,
            _ => {}
        }
        push(&mut self.notes, (order, *event), NOTES);
    }
}

/// The object of an operation by which threads wait for each other.
fn object(op: &Op) -> Option<u64> {
    Some(match *op {
        Op::Signal { cond }
        | Op::Broadcast { cond }
        | Op::Wait { cond, .. }
        | Op::WaitAcquire { cond, .. } => cond,
        Op::SemPost { semaphore } | Op::SemWait { semaphore, .. } => semaphore,
        Op::BarrierEnter { barrier } | Op::BarrierLeave { barrier, .. } => barrier,
        Op::OnceBegin { once } | Op::OnceEnd { once, .. } => once,
        Op::Init { object, .. } => object,
        _ => return None,
    })
}

/// The last event for each of the keys that `keys` finds for it.
pub(super) fn last_of(trace: &Trace, keys: impl Fn(&Event, &mut Vec<u64>)) -> BTreeMap<u64, Event> {
    let (mut last, mut found) = (BTreeMap::new(), Vec::new());
    for event in trace.merged() {
        keys(&event, &mut found);
        last.extend(found.drain(..).map(|it| (it, event)));
    }
    last
}
