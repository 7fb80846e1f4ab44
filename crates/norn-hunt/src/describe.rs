//! What a person must know of a candidate: which variable, and who does what to it where.

use norn_model::{Candidate, EventId, Frame, Held, LockMode, Op, Step};
use norn_resolve::{Memory, Place};

use crate::source::Source;

/// What a person must know of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The variables, by name or origin.
    pub variables: Vec<String>,
    /// The accesses, in the order of the candidate.
    pub accesses: Vec<Access>,
}

/// One access of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The thread's name.
    pub thread: String,
    /// Whether it reads or writes.
    pub does: norn_model::Access,
    /// To which variable.
    pub variable: String,
    /// The value in the recorded run, if it is known.
    pub value: Option<u128>,
    /// `function file.c:12`, innermost first, as much of it as is known.
    pub calls: Vec<String>,
    /// The locks that the thread holds there.
    pub locks: Vec<String>,
}

/// Calls that are told of an access.
const CALLS: usize = 4;
/// How the names of the runtime's functions begin, which start threads.
const OURS: &str = "norn_rt::";
/// Bytes of a lock: by its size it is told from its first member.
const LOCK: u64 = 40;

/// Describes a candidate of a trace. Whose memory it is, is only looked for if `thoroughly`: that
/// takes a walk through the trace.
pub(crate) fn describe(source: &Source, candidate: &Candidate, thoroughly: bool) -> Description {
    let last = candidate.steps.iter().map(|it| it.event).max_by_key(|it| it.index);
    let memory = last.filter(|_| thoroughly).map(|it| memory(source, it));
    let guide = Guide { source, memory: memory.unwrap_or_default() };
    let accesses: Vec<_> = candidate.steps.iter().map(|it| guide.access(it)).collect();
    let mut variables: Vec<_> = accesses.iter().map(|it| it.variable.clone()).collect();
    variables.dedup();
    Description { variables, accesses }
}

/// The memory of the program when an event happens.
fn memory(source: &Source, id: EventId) -> Memory {
    let mut memory = Memory::default();
    for event in source.trace.merged() {
        memory.learn(&event);
        if event.id == id {
            break;
        }
    }
    memory
}

struct Guide<'a> {
    source: &'a Source,
    memory: Memory,
}

impl Guide<'_> {
    fn access(&self, step: &Step) -> Access {
        let Source { scene, trace } = self.source;
        let (size, value) = match trace.event(step.event).map(|it| it.op) {
            Some(Op::Read { size, value, .. } | Op::Write { size, value, .. }) => (size, value),
            Some(Op::Atomic { size, .. }) => (u64::from(size), None),
            Some(
                Op::Acquire { .. }
                | Op::WaitAcquire { .. }
                | Op::Release { .. }
                | Op::WaitRelease { .. },
            ) => (LOCK, None),
            _ => (1, None),
        };
        Access {
            thread: scene.thread(step.event.thread).0,
            does: step.access,
            variable: self.name(step.addr, size),
            value,
            calls: self.calls(step),
            locks: self.locks(step.event),
        }
    }

    /// Where the access is, and by which calls the thread came there.
    fn calls(&self, step: &Step) -> Vec<String> {
        let Source { scene, trace } = self.source;
        let pc = scene.trace.site(step.site).map(|it| it.pc);
        let stack = trace.event(step.event).map(|it| it.stack);
        let frames = stack.into_iter().flat_map(|it| trace.stacks.frames(it));
        let callers = frames.filter_map(|it| match it {
            Frame::Call(pc) => Some(pc),
            Frame::Unknown(_) => None,
        });
        let all = pc.into_iter().chain(callers).flat_map(|it| scene.sites(it));
        all.filter(|it| !it.starts_with(OURS)).take(CALLS).collect()
    }

    /// The locks that the thread of an event holds there.
    fn locks(&self, id: EventId) -> Vec<String> {
        let mut held = Held::default();
        let events = self.source.trace.thread(id.thread).map_or(&[][..], |it| &it.events);
        let before = events.iter().take_while(|it| it.id.index < id.index);
        before.for_each(|it| held.step(&it.op));
        let mode = |mode| if mode == LockMode::Read { " (shared)" } else { "" };
        held.iter().map(|(lock, how)| self.name(lock, LOCK) + mode(how)).collect()
    }

    /// What an address is called: a variable, a heap block, a stack.
    fn name(&self, addr: u64, size: u64) -> String {
        let scene = &self.source.scene;
        if let Some(variable) = scene.modules.variable(addr, size) {
            return variable.name;
        }
        let from = |site| {
            let site = scene.trace.site(site).and_then(|it| scene.site(it.pc));
            site.map_or_else(String::new, |it| format!(" from {it}"))
        };
        match self.memory.place(addr) {
            Some(Place::Heap { offset, size, site, .. }) => {
                format!("heap[{size}]+{offset}{}", from(site))
            }
            Some(Place::Mapped { offset, site }) => format!("mapped+{offset}{}", from(site)),
            Some(Place::Stack(thread)) => format!("stack of {}", scene.thread(thread)),
            None => format!("{addr:#x}"),
        }
    }
}
