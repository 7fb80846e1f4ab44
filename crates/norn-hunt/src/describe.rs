//! What a reader must know of a candidate: which variable, and which thread does what to it where.

use std::collections::BTreeMap;

use norn_model::{Candidate, EventId, Frame, Held, Location, LockMode, Op, SiteId, StackId, Step};
use norn_replay::story::size;
use norn_report::{Access, Action, HeldLock, Number, Object};
use norn_resolve::{Memory, Place, Reading};

use crate::source::Source;

/// What a reader must know of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The variables, by name or origin.
    pub variables: Vec<Object>,
    /// The accesses, in the order of the candidate; of a deadlock, thread by thread.
    pub accesses: Vec<Access>,
}

/// Calls that are shown of an access, at most.
const CALLS: usize = 4;
/// How the names of the runtime's functions begin, which start threads.
const OURS: &str = "norn_rt::";
/// How the names of the C++ library's functions begin, demangled and mangled, and those of libc that
/// call `main`.
const LIBRARY: [&str; 7] =
    ["std::", "__gnu_cxx::", "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "__libc_start_"];

/// Whether a function is one of the runtime's.
fn is_ours(at: &Location) -> bool {
    at.function.as_deref().is_some_and(|it| it.starts_with(OURS))
}

/// Whether a function is one of the C++ library's, or one that starts the program.
fn is_library(at: &Location) -> bool {
    let starts = |it: &str| it == "_start" || LIBRARY.iter().any(|name| it.starts_with(name));
    at.function.as_deref().is_some_and(starts)
}

/// Describes a candidate of a trace. Memory on the heap and on stacks gets its name only if
/// `thoroughly`, since that takes a walk through the trace.
pub(crate) fn describe(source: &Source, candidate: &Candidate, thoroughly: bool) -> Description {
    if thoroughly {
        describe_all(source, &[candidate]).pop().unwrap_or_default()
    } else {
        described(&Symbolizer { source, memory: Memory::default() }, candidate)
    }
}

/// Describes candidates of a trace thoroughly, in one walk through it: each when its last event
/// has happened.
pub(crate) fn describe_all(source: &Source, candidates: &[&Candidate]) -> Vec<Description> {
    let mut waiting: BTreeMap<EventId, Vec<usize>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let all = candidate.steps.iter().chain(&candidate.stuck);
        if let Some(last) = all.map(|it| it.event).max_by_key(|it| it.index) {
            waiting.entry(last).or_default().push(at);
        }
    }
    let mut symbols = Symbolizer { source, memory: Memory::default() };
    let mut descriptions = vec![Description::default(); candidates.len()];
    for event in source.trace.merged() {
        if waiting.is_empty() {
            break;
        }
        symbols.memory.learn(&event);
        for at in waiting.remove(&event.id).into_iter().flatten() {
            descriptions[at] = described(&symbols, candidates[at]);
        }
    }
    descriptions
}

fn described(symbols: &Symbolizer<'_>, candidate: &Candidate) -> Description {
    let accesses: Vec<_> = in_order(candidate).map(|it| symbols.access(it.0, it.1)).collect();
    let joins = |it: &Access| it.stuck && it.action == Action::Join;
    let about = accesses.iter().filter(|it| it.stuck || candidate.stuck.is_empty());
    let mut variables = Vec::new();
    for it in about.filter(|it| !joins(it)) {
        if !variables.contains(&it.variable) {
            variables.push(it.variable.clone());
        }
    }
    Description { variables, accesses }
}

/// The steps, and whether they are never done. Of a deadlock: what others did, and then for each
/// thread what it took and where it gets stuck. Where a wait begins is where it gets stuck.
fn in_order(candidate: &Candidate) -> impl Iterator<Item = (&Step, bool)> {
    let is_stuck = |it: &&Step| candidate.stuck.iter().any(|at| at.event.thread == it.event.thread);
    let others = candidate.steps.iter().filter(move |it| !is_stuck(it));
    let threads = candidate.stuck.iter().flat_map(|stuck| {
        let same = |it: &&Step| it.event.thread == stuck.event.thread;
        let taken = candidate.steps.iter().filter(move |it| same(it));
        let taken = taken.filter(|it| it.access != norn_model::Access::Wait);
        taken.map(|it| (it, false)).chain([(stuck, true)])
    });
    others.map(|it| (it, false)).chain(threads)
}

/// How many bytes the object of an event has: the size distinguishes it from its first member.
fn object_size(op: &Op, addr: u64) -> u64 {
    match *op {
        Op::Acquire { mode, .. } => size::lock(mode),
        Op::WaitAcquire { lock, .. } if lock == addr => size::lock(LockMode::Mutex),
        Op::WaitAcquire { .. } | Op::Signal { .. } | Op::Broadcast { .. } => size::COND,
        Op::SemWait { .. } | Op::SemPost { .. } => size::SEMAPHORE,
        Op::BarrierLeave { .. } => size::BARRIER,
        Op::OnceDone { .. } => size::ONCE,
        _ => 1,
    }
}

/// Names threads, places and memory of a trace.
struct Symbolizer<'a> {
    source: &'a Source,
    memory: Memory,
}

impl Symbolizer<'_> {
    fn access(&self, step: &Step, stuck: bool) -> Access {
        let Source { scene, trace, .. } = self.source;
        let op = trace.event(step.event).map(|it| it.op);
        let (size, value) = match op {
            Some(Op::Read { size, value, .. } | Op::Write { size, value, .. }) => (size, value),
            Some(Op::Atomic { size, .. }) => (u64::from(size), None),
            Some(op) => (object_size(&op, step.addr), None),
            None => (1, None),
        };
        let (object, reading) = self.named(step.addr, size);
        let frames = self.frames(step);
        Access {
            thread: scene.thread(step.event.thread),
            action: match op {
                Some(Op::Join(_)) if step.access == norn_model::Access::Wait => Action::Join,
                _ => step.access.into(),
            },
            event: None,
            stuck,
            variable: self.thread(step).unwrap_or(object),
            value: value.map(Number),
            shown: reading.zip(value).and_then(|(reading, value)| reading.text(value)),
            stack: shown(&frames),
            locks: self.locks(step.event),
            frames,
        }
    }

    /// The thread that something is done to, if it is one.
    fn thread(&self, step: &Step) -> Option<Object> {
        match self.source.trace.event(step.event)?.op {
            Op::Join(thread) | Op::Cancel(thread) => {
                Some(Object::named(self.source.scene.thread(thread).0))
            }
            _ => None,
        }
    }

    /// Where the access is, and by which calls the thread came there.
    fn frames(&self, step: &Step) -> Vec<Location> {
        let all = self.addresses(step).flat_map(|pc| self.source.scene.frames(pc));
        all.filter(|it| !is_ours(it)).collect()
    }

    /// Where the access is in the code, and the calls that led there.
    fn addresses(&self, step: &Step) -> impl Iterator<Item = u64> {
        let stack = self.source.trace.event(step.event).map(|it| it.stack);
        self.stack(step.site, stack)
    }

    fn stack(&self, site: SiteId, stack: Option<StackId>) -> impl Iterator<Item = u64> {
        let Source { scene, trace, .. } = self.source;
        let pc = scene.trace.site(site).map(|it| it.pc);
        let frames = stack.into_iter().flat_map(|it| trace.stacks.frames(it));
        let callers = frames.filter_map(|it| match it {
            Frame::Call(pc) => Some(pc),
            Frame::Unknown(_) => None,
        });
        pc.into_iter().chain(callers)
    }

    /// The locks that the thread of an event holds there.
    fn locks(&self, id: EventId) -> Vec<HeldLock> {
        let mut held = Held::default();
        let events = self.source.trace.thread(id.thread).map_or(&[][..], |it| &it.events);
        let before = events.iter().take_while(|it| it.id.index < id.index);
        before.for_each(|it| held.step(&it.op));
        let lock = |(lock, mode)| HeldLock {
            lock: self.named(lock, size::lock(mode)).0,
            shared: mode == LockMode::Read,
        };
        held.iter().map(lock).collect()
    }

    /// What an address belongs to: a variable, a heap block, a stack; and how to read what is there,
    /// if that is known.
    fn named(&self, addr: u64, size: u64) -> (Object, Option<Reading>) {
        let scene = &self.source.scene;
        if let Some(variable) = scene.modules.variable(addr, size) {
            return (Object::named(variable.name), variable.reading);
        }
        let object = match self.memory.place(addr) {
            Some(Place::Stack(on)) => {
                let local = scene.local(on, addr, size);
                let reading = local.variable.and_then(|it| it.reading);
                return (Object::named(local.name), reading);
            }
            Some(Place::Heap { offset, size, site, stack, .. }) => Object {
                allocated_at: self.allocated_at(site, Some(stack)),
                ..Object::named(format!("heap[{size}]+{offset}"))
            },
            Some(Place::Mapped { offset, site }) => Object {
                allocated_at: self.allocated_at(site, None),
                ..Object::named(format!("mapped+{offset}"))
            },
            None => Object::named(format!("{addr:#x}")),
        };
        (object, None)
    }

    /// Where memory was allocated: in the program rather than in the C++ library.
    fn allocated_at(&self, site: SiteId, stack: Option<StackId>) -> Option<Location> {
        let all = self.stack(site, stack).flat_map(|it| self.source.scene.locations(it));
        let all: Vec<_> = all.filter(|it| !is_ours(it)).collect();
        all.iter().find(|it| !is_library(it)).or(all.first()).cloned()
    }
}

/// The frames that are shown: where the access is, and its callers, but for functions of the C++
/// library, of which there are many on the way to anything.
fn shown(frames: &[Location]) -> Vec<Location> {
    let mut known = frames.iter().filter(|it| it.function.is_some() || it.file.is_some());
    let access = known.next();
    let callers = known.filter(|it| !is_library(it));
    access.into_iter().chain(callers).take(CALLS).cloned().collect()
}
