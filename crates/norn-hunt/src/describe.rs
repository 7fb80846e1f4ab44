//! What a person must know of a candidate: which variable, and who does what to it where.

use std::{collections::BTreeMap, sync::Arc};

use norn_model::{Candidate, EventId, Frame, Held, LockMode, Op, SiteId, StackId, Step};
use norn_replay::story::size;
use norn_resolve::{Memory, Place, Reading};

use crate::source::Source;

/// What a person must know of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The variables, by name or origin.
    pub variables: Vec<String>,
    /// The accesses, in the order of the candidate; of a deadlock, thread by thread.
    pub accesses: Vec<Access>,
}

/// One access of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The thread's name.
    pub thread: String,
    /// Whether it reads or writes.
    pub does: norn_model::Access,
    /// Whether it gets stuck there.
    pub stuck: bool,
    /// Whether it waits for the end of a thread, which is named instead of a variable.
    pub joins: bool,
    /// To which variable.
    pub variable: String,
    /// The value in the recorded run, if it is known.
    pub value: Option<u128>,
    /// The same as the variable's type has it, if that is known.
    pub shown: Option<String>,
    /// `function file.c:12`, innermost first, as much of it as is known.
    pub calls: Vec<String>,
    /// The same calls, all of them, for who looks for a name.
    pub frames: Vec<Call>,
    /// The locks that the thread holds there.
    pub locks: Vec<String>,
}

/// A call on the way to an access, as much as is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The function.
    pub function: Option<String>,
    /// The source file, with its folders.
    pub file: Option<String>,
    /// The program or library.
    pub module: Option<String>,
}

/// Calls that are told of an access.
const CALLS: usize = 4;
/// How the names of the runtime's functions begin, which start threads.
const OURS: &str = "norn_rt::";
/// The same of the C++ library's, and how they do where nobody can read them.
const LIBRARY: [&str; 6] = ["std::", "__gnu_cxx::", "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx"];

/// Whether a place is in the C++ library.
fn is_librarys(place: &str) -> bool {
    LIBRARY.iter().any(|name| place.starts_with(name))
}

/// Describes a candidate of a trace. Whose memory it is, is only looked for if `thoroughly`: that
/// takes a walk through the trace.
pub(crate) fn describe(source: &Source, candidate: &Candidate, thoroughly: bool) -> Description {
    if thoroughly {
        describe_all(source, &[candidate]).pop().unwrap_or_default()
    } else {
        told(&Guide { source, memory: Memory::default() }, candidate)
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
    let mut guide = Guide { source, memory: Memory::default() };
    let mut descriptions = vec![Description::default(); candidates.len()];
    for event in source.trace.merged() {
        if waiting.is_empty() {
            break;
        }
        guide.memory.learn(&event);
        for at in waiting.remove(&event.id).into_iter().flatten() {
            descriptions[at] = told(&guide, candidates[at]);
        }
    }
    descriptions
}

fn told(guide: &Guide<'_>, candidate: &Candidate) -> Description {
    let accesses: Vec<_> = in_order(candidate).map(|it| guide.access(it.0, it.1)).collect();
    let told = accesses
        .iter()
        .filter(|it| (it.stuck || candidate.stuck.is_empty()) && !(it.stuck && it.joins));
    let mut variables = Vec::new();
    for it in told {
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

/// How many bytes the object of an event has: by its size it is told from its first member.
fn object(op: &Op, addr: u64) -> u64 {
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

struct Guide<'a> {
    source: &'a Source,
    memory: Memory,
}

impl Guide<'_> {
    fn access(&self, step: &Step, stuck: bool) -> Access {
        let Source { scene, trace, .. } = self.source;
        let (size, value) = match trace.event(step.event).map(|it| it.op) {
            Some(Op::Read { size, value, .. } | Op::Write { size, value, .. }) => (size, value),
            Some(Op::Atomic { size, .. }) => (u64::from(size), None),
            Some(op) => (object(&op, step.addr), None),
            None => (1, None),
        };
        let (name, reading) = self.named(step.addr, size);
        let thread = self.thread(step);
        let joins = trace.event(step.event).is_some_and(|it| matches!(it.op, Op::Join(_)));
        Access {
            thread: scene.thread(step.event.thread).0,
            does: step.access,
            stuck,
            joins,
            variable: thread.unwrap_or(name),
            value,
            shown: reading.zip(value).and_then(|(reading, value)| reading.text(value)),
            calls: self.calls(step),
            frames: self.frames(step),
            locks: self.locks(step.event),
        }
    }

    /// The thread that something is done to, if it is one.
    fn thread(&self, step: &Step) -> Option<String> {
        match self.source.trace.event(step.event)?.op {
            Op::Join(thread) | Op::Cancel(thread) => Some(self.source.scene.thread(thread).0),
            _ => None,
        }
    }

    /// Where the access is, and by which calls the thread came there. Through how many functions of
    /// the C++ library a call went is nobody's concern.
    fn calls(&self, step: &Step) -> Vec<String> {
        let all = self.addresses(step).flat_map(|it| self.source.scene.sites(it));
        let mut all = all.filter(|it| !it.starts_with(OURS));
        let access = all.next();
        let callers = all.filter(|it| !is_librarys(it));
        access.into_iter().chain(callers).take(CALLS).collect()
    }

    fn frames(&self, step: &Step) -> Vec<Call> {
        let modules = &self.source.scene.modules;
        let text = |it: &Option<Arc<str>>| it.as_deref().map(str::to_owned);
        let frames = self.addresses(step).flat_map(|pc| {
            let module = modules.file(pc).map(|it| it.path.to_string_lossy().into_owned());
            let call = |it: &norn_resolve::Frame| Call {
                function: text(&it.function),
                file: text(&it.file),
                module: module.clone(),
            };
            modules.frames(pc).iter().map(call).collect::<Vec<_>>()
        });
        let ours = |it: &Call| it.function.as_deref().is_some_and(|it| it.starts_with(OURS));
        frames.filter(|it| !ours(it)).collect()
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
    fn locks(&self, id: EventId) -> Vec<String> {
        let mut held = Held::default();
        let events = self.source.trace.thread(id.thread).map_or(&[][..], |it| &it.events);
        let before = events.iter().take_while(|it| it.id.index < id.index);
        before.for_each(|it| held.step(&it.op));
        let mode = |mode| if mode == LockMode::Read { " (shared)" } else { "" };
        held.iter().map(|(lock, how)| self.name(lock, size::lock(how)) + mode(how)).collect()
    }

    /// What an address is called: a variable, a heap block, a stack.
    fn name(&self, addr: u64, size: u64) -> String {
        self.named(addr, size).0
    }

    /// The same, and how to read what is there, if that is known.
    fn named(&self, addr: u64, size: u64) -> (String, Option<Reading>) {
        let scene = &self.source.scene;
        if let Some(variable) = scene.modules.variable(addr, size) {
            return (variable.name, variable.reading);
        }
        if let Some(Place::Stack(on)) = self.memory.place(addr) {
            let local = scene.local(on, addr, size);
            return (local.name, local.variable.and_then(|it| it.reading));
        }
        let from = |site, stack| {
            let all = self.stack(site, stack).flat_map(|it| scene.sites(it));
            let mut all = all.filter(|it| !it.starts_with(OURS)).peekable();
            let first = all.peek().cloned();
            let site = all.find(|it| !is_librarys(it)).or(first);
            site.map_or_else(String::new, |it| format!(" from {it}"))
        };
        let name = match self.memory.place(addr) {
            Some(Place::Heap { offset, size, site, stack, .. }) => {
                format!("heap[{size}]+{offset}{}", from(site, Some(stack)))
            }
            Some(Place::Mapped { offset, site }) => format!("mapped+{offset}{}", from(site, None)),
            Some(Place::Stack(_)) | None => format!("{addr:#x}"),
        };
        (name, None)
    }
}
