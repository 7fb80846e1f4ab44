//! Describes candidates for a reader: the variables, and the threads, operations and places of the
//! accesses.

use std::collections::BTreeMap;

use norn_frontend::{HeapName, Memory, Owner, Region};
use norn_model::{
    BugClass, Candidate, Event, EventId, Frame, Location, LockMode, Op, SiteId, StackId, Step,
    ValueType, descriptor_number,
};
use norn_report::{Access, Action, HeldLock, Number, Object};

use crate::source::Source;

/// The description of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The variables, by name or origin.
    pub variables: Vec<Object>,
    /// The accesses, in the order of the candidate; of a deadlock, thread by thread.
    pub accesses: Vec<Access>,
}

/// Maximum number of calls that are shown of an access.
const CALLS: usize = 4;
/// Size of the flag of a once-only initialization in bytes.
const ONCE: u64 = 4;

/// The wait with a time limit that is recorded at its call in the program, and not in the library.
const PARK: &str = "std::thread::park_timeout()";

/// Describes a candidate of a trace. Heap blocks and local variables are named only if `thoroughly`,
/// because that takes a pass over the trace.
pub(crate) fn describe(source: &Source, candidate: &Candidate, thoroughly: bool) -> Description {
    if thoroughly {
        describe_all(source, &[candidate]).pop().unwrap_or_default()
    } else {
        let symbols = Symbolizer { source, memory: Memory::default() };
        described(candidate, |step, stuck| symbols.access_of(candidate, step, stuck))
    }
}

/// Describes candidates of a trace thoroughly, in one pass over it: each at its last event.
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
            let access = |step: &Step, stuck| symbols.access_of(candidates[at], step, stuck);
            descriptions[at] = described(candidates[at], access);
        }
    }
    descriptions
}

/// The place of a step and its callers, innermost first, without the frames of the runtime.
pub(crate) fn stack_of(source: &Source, step: &Step) -> Vec<Location> {
    Symbolizer { source, memory: Memory::default() }.frames(step)
}

/// The frames of an event, innermost first.
pub(crate) fn frames_of(source: &Source, event: &Event) -> impl Iterator<Item = Location> {
    let symbols = Symbolizer { source, memory: Memory::default() };
    let addresses: Vec<u64> = symbols.stack(event.site, Some(event.stack)).collect();
    addresses.into_iter().flat_map(|pc| source.symbolized.frames(pc))
}

/// The frames of an event that belong to the program, innermost first.
pub(crate) fn program_frames(source: &Source, event: &Event) -> Vec<Location> {
    let symbols = Symbolizer { source, memory: Memory::default() };
    let frames = frames_of(source, event);
    let is_known = |it: &Location| it.function.is_some() && it.line.is_some();
    frames.filter(|it| is_known(it) && symbols.is_own(it)).collect()
}

/// The line of the program at which an event happens.
pub(crate) fn place_of(source: &Source, event: &Event) -> Option<Location> {
    let symbols = Symbolizer { source, memory: Memory::default() };
    let frames = symbols.stack(event.site, Some(event.stack));
    let frames: Vec<_> = frames.flat_map(|pc| source.symbolized.frames(pc)).collect();
    symbols.shown(&frames).into_iter().next()
}

/// The name of a lock that a thread holds at an event.
pub(crate) fn lock_name(source: &Source, at: EventId, (lock, mode): (u64, LockMode)) -> Object {
    let mut symbols = Symbolizer { source, memory: Memory::default() };
    for event in source.trace.merged() {
        symbols.memory.learn(&event);
        if event.id == at {
            break;
        }
    }
    symbols.named(lock, symbols.size(mode.object())).0
}

/// Describes a candidate, given the description of a step, which may be one that is never performed.
pub(crate) fn described(
    candidate: &Candidate,
    access: impl Fn(&Step, bool) -> Access,
) -> Description {
    let accesses: Vec<_> = in_order(candidate).map(|it| access(it.0, it.1)).collect();
    let joins = |it: &Access| it.stuck && it.action == Action::Join;
    // What a thread uses is part of what another one frees.
    let is_used = accesses.iter().any(|it| it.action != Action::Free);
    let about = accesses.iter().filter(|it| it.stuck || candidate.stuck.is_empty());
    let about = about.filter(|it| it.action != Action::Free || !is_used);
    // A wait that times out is one for its own object, whatever another thread does to end it.
    let expires = candidate.expires().is_some();
    let about = about.filter(|it| !expires || it.action == Action::Wait);
    let mut variables = Vec::new();
    for it in about.filter(|it| !joins(it)) {
        if !variables.contains(&it.variable) {
            variables.push(it.variable.clone());
        }
    }
    Description { variables, accesses }
}

/// The steps, and whether they are never performed. For a deadlock: the steps of other threads, then for
/// each stuck thread its acquisitions and the step in which it is stuck. A thread is stuck where its wait
/// begins.
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

/// What a step does.
pub(crate) fn action(op: Option<&Op>, step: &Step) -> Action {
    match op {
        Some(Op::Join(_)) if step.access == norn_model::Access::Wait => Action::Join,
        Some(op @ Op::Destroy { .. }) => op.into(),
        _ => step.access.into(),
    }
}

/// Names threads, places and memory of a trace.
struct Symbolizer<'a> {
    source: &'a Source,
    memory: Memory,
}

impl Symbolizer<'_> {
    fn access(&self, step: &Step, stuck: bool) -> Access {
        let Source { symbolized, trace, .. } = self.source;
        let op = trace.event(step.event).map(|it| it.op);
        let (size, value) = match op {
            Some(Op::Read { size, value, .. } | Op::Write { size, value, .. }) => (size, value),
            Some(Op::Atomic { size, .. }) => (u64::from(size), None),
            Some(op) => (self.object_size(&op, step.addr), None),
            None => (1, None),
        };
        let (object, value_type) = self.named(step.addr, size);
        let frames = self.frames(step);
        Access {
            thread: symbolized.thread(step.event.thread),
            action: action(op.as_ref(), step),
            event: None,
            stuck,
            variable: self
                .thread(step)
                .or_else(|| self.limited_call(step, &frames))
                .unwrap_or(object),
            value: value.map(Number),
            shown: value_type.zip(value).and_then(|(value_type, value)| value_type.text(value)),
            stack: self.shown(&frames),
            locks: self.locks(step.event),
            frames,
        }
    }

    /// The thread that is the operand of an operation, if there is one.
    fn thread(&self, step: &Step) -> Option<Object> {
        match self.source.trace.event(step.event)?.op {
            Op::Join(thread) | Op::Cancel(thread) => {
                Some(Object::named(self.source.symbolized.thread(thread).0))
            }
            _ => None,
        }
    }

    /// The access of a candidate. What a library does on behalf of a call that ends a wait, or by which calls are ordered, has
    /// names that only the library knows; so the call is named.
    fn access_of(&self, candidate: &Candidate, step: &Step, stuck: bool) -> Access {
        let access = self.access(step, stuck);
        let symbols = &self.source.symbolized.symbols;
        let operation = |it: &Location| symbols.is_atomic_operation(it);
        let mut callees = access.frames.iter().take_while(|it| !self.is_own(it));
        let event = self.source.trace.event(step.event);
        let is_part = match candidate.class() {
            _ if candidate.expires().is_some() => access.action == Action::Write,
            BugClass::Order => event.is_some_and(|it| matches!(it.op, Op::Atomic { .. })),
            _ => false,
        };
        let is_part = is_part && callees.any(|it| !operation(it));
        match self.library_call(&access.frames).filter(|_| is_part) {
            Some(call) => Access { action: Action::Call, variable: call, value: None, ..access },
            None => access,
        }
    }

    /// The function in which a thread waits with a time limit for what another one sends: what is sent has no name.
    fn limited_call(&self, step: &Step, frames: &[Location]) -> Option<Object> {
        let op = self.source.trace.event(step.event)?.op;
        let waits = matches!(op, Op::Receive { timed: true, .. });
        let call = || self.library_call(frames).unwrap_or_else(|| Object::named(PARK.to_owned()));
        waits.then(call)
    }

    /// The function of a library that the program called.
    fn library_call(&self, frames: &[Location]) -> Option<Object> {
        let libraries = frames.iter().take_while(|it| !self.is_own(it));
        let function = libraries.filter_map(|it| it.function.as_ref()).last()?;
        Some(Object::named(format!("{function}()")))
    }

    /// The place of the access, and the call stack of the thread.
    fn frames(&self, step: &Step) -> Vec<Location> {
        let all = self.addresses(step).flat_map(|pc| self.source.symbolized.frames(pc));
        all.filter(|it| self.owner(it) != Owner::Runtime).collect()
    }

    /// The source location of the access, and its callers.
    fn addresses(&self, step: &Step) -> impl Iterator<Item = u64> {
        let stack = self.source.trace.event(step.event).map(|it| it.stack);
        self.stack(step.site, stack)
    }

    fn stack(&self, site: SiteId, stack: Option<StackId>) -> impl Iterator<Item = u64> {
        let Source { symbolized, trace, .. } = self.source;
        let pc = symbolized.trace.site(site).map(|it| it.pc);
        let frames = stack.into_iter().flat_map(|it| trace.stacks.frames(it));
        let callers = frames.filter_map(|it| match it {
            Frame::Call(pc) => Some(pc),
            Frame::Unknown(_) => None,
        });
        pc.into_iter().chain(callers)
    }

    /// The locks that the thread of an event holds there.
    fn locks(&self, id: EventId) -> Vec<HeldLock> {
        let lock = |(lock, mode): (u64, LockMode)| HeldLock {
            lock: self.named(lock, self.size(mode.object())).0,
            shared: mode == LockMode::Read,
        };
        self.source.held(id).iter().map(lock).collect()
    }

    /// The object at an address: a variable, a heap block or a stack; and the type of its value, if that
    /// is known.
    fn named(&self, addr: u64, size: u64) -> (Object, Option<ValueType>) {
        if let Some(number) = descriptor_number(addr) {
            return (Object::named(format!("descriptor {number}")), None);
        }
        let symbolized = &self.source.symbolized;
        if let Some(variable) = symbolized.symbols.variable(addr, size) {
            return (Object::named(variable.name), variable.value_type);
        }
        let object = match self.memory.region(addr) {
            Some(Region::Stack(on)) => {
                let local = symbolized.local(on, addr, size);
                let value_type = local.variable.and_then(|it| it.value_type);
                return (Object::named(local.name), value_type);
            }
            Some(Region::Heap { site, stack, .. }) => {
                let calls = |site, stack| self.stack(site, Some(stack)).collect();
                let found = symbolized.heap_name(&self.memory, &calls, (addr, size));
                let HeapName { name, holder, value_type } = found.unwrap_or_default();
                let allocated_at = self.allocated_at(site, Some(stack));
                return (Object { holder, allocated_at, ..Object::named(name) }, value_type);
            }
            Some(Region::Mapped { offset, site }) => Object {
                allocated_at: self.allocated_at(site, None),
                ..Object::named(format!("mapped+{offset}"))
            },
            None => Object::named(format!("{addr:#x}")),
        };
        (object, None)
    }

    /// The place where memory was allocated, in the program rather than in the C++ library.
    fn allocated_at(&self, site: SiteId, stack: Option<StackId>) -> Option<Location> {
        let all = self.stack(site, stack).flat_map(|it| self.source.symbolized.locations(it));
        let all: Vec<_> = all.filter(|it| self.owner(it) != Owner::Runtime).collect();
        all.iter().find(|it| self.owner(it) == Owner::Program).or(all.first()).cloned()
    }

    /// The frames that are shown: those of the program. An access in a library, such as `std::mutex::lock` in
    /// a header, is shown at the line that called it. Without a frame of the program, that of a dependency, or
    /// else the access itself.
    fn shown(&self, frames: &[Location]) -> Vec<Location> {
        let known = || frames.iter().filter(|it| it.function.is_some() || it.file.is_some());
        let own: Vec<_> = known().filter(|it| self.is_own(it)).take(CALLS).cloned().collect();
        if !own.is_empty() {
            return own;
        }
        let symbols = &self.source.symbolized.symbols;
        let dependency = known().find(|it| !symbols.is_of_language(it));
        dependency.or_else(|| known().next()).into_iter().cloned().collect()
    }

    /// Whether a frame is the program's own.
    fn is_own(&self, frame: &Location) -> bool {
        self.owner(frame) == Owner::Program && !self.source.symbolized.symbols.is_folded(frame)
    }

    fn owner(&self, frame: &Location) -> Owner {
        self.source.symbolized.symbols.owner(frame)
    }

    /// The number of bytes of the object of an event, which distinguishes it from its first member.
    fn object_size(&self, op: &Op, addr: u64) -> u64 {
        match *op {
            Op::Acquire { mode, .. } | Op::Release { mode, .. } => self.size(mode.object()),
            Op::Init { class, .. } | Op::Destroy { class, .. } => self.size(class),
            Op::WaitAcquire { lock, .. } if lock == addr => self.size(LockMode::Mutex.object()),
            Op::Wait { .. } | Op::WaitAcquire { .. } | Op::Signal { .. } | Op::Broadcast { .. } => {
                self.size(norn_model::Object::Cond)
            }
            Op::SemWait { .. } | Op::SemPost { .. } => self.size(norn_model::Object::Semaphore),
            Op::BarrierEnter { .. } | Op::BarrierLeave { .. } => {
                self.size(norn_model::Object::Barrier)
            }
            Op::OnceDone { .. } => ONCE,
            Op::Free { addr } => self.memory.block(addr).map_or(1, |it| it.1),
            _ => 1,
        }
    }

    fn size(&self, class: norn_model::Object) -> u64 {
        self.source.symbolized.symbols.object_size(class)
    }
}
