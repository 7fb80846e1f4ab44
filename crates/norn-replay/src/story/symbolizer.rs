//! Names for what a story is about: places in the code, calls, and what addresses belong to.

use norn_model::{Event, Frame as Call, Location, NameId, ThreadId, ThreadName};
use norn_report::{Address, Object, Step};
use norn_resolve::{Frame, Memory, Place as Region};

use crate::Scene;

/// The most calls that a story shows of one event.
const MOST: usize = 8;

/// Names threads, places in the code and memory of one run.
pub(super) struct Symbolizer<'a> {
    pub(super) scene: &'a Scene,
    pub(super) memory: Memory,
}

impl Symbolizer<'_> {
    /// A thread's name.
    pub(super) fn thread(&self, id: ThreadId) -> ThreadName {
        self.scene.thread(id)
    }

    /// The name of a function or a mark.
    pub(super) fn name(&self, id: NameId) -> String {
        self.scene.trace.names().name(id).to_owned()
    }

    /// An event, and the calls that led to it.
    pub(super) fn step(&self, event: &Event) -> Step {
        let pc = self.scene.trace.site(event.site).map_or(0, |it| it.pc);
        let calls: Vec<_> = self.scene.trace.stack(event.stack).collect();
        let stack = self.places(pc, &calls);
        Step { thread: self.thread(event.id.thread), event: Some(event.id.index), stack }
    }

    /// What a thread was about to do when its trace ended.
    pub(super) fn next(&self, thread: ThreadId, pc: u64) -> Step {
        let stack = self.places(pc, &self.scene.trace.last_calls(thread));
        Step { thread: self.thread(thread), event: None, stack }
    }

    /// Where an event was, in the code of the program if there is any on the way to it.
    pub(super) fn place(&self, event: &Event) -> Option<Location> {
        self.step(event).stack.into_iter().next()
    }

    /// Whether the program itself did it: not a library, nor a header of the system that nothing of
    /// the program had called.
    pub(super) fn is_own(&self, event: &Event) -> bool {
        let pc = self.scene.trace.site(event.site).map_or(0, |it| it.pc);
        let module = self.scene.modules.file(pc).map(|it| it.path.to_string_lossy());
        let own = |pc: u64| {
            self.scene.modules.frames(pc).iter().any(|frame| self.is_own_frame(pc, frame))
        };
        let calls = self.scene.trace.stack(event.stack).filter_map(pc_of);
        module.is_some_and(|it| !is_system(&it)) && std::iter::once(pc).chain(calls).any(own)
    }

    /// The program's own frames of a place and its callers; all of them if none is.
    fn places(&self, pc: u64, calls: &[Call]) -> Vec<Location> {
        let all: Vec<(u64, Frame)> = std::iter::once(pc)
            .chain(calls.iter().copied().filter_map(pc_of))
            .flat_map(|pc| self.frames(pc).into_iter().map(move |frame| (pc, frame)))
            .collect();
        let own: Vec<_> = all.iter().filter(|(pc, it)| self.is_own_frame(*pc, it)).collect();
        let shown = if own.is_empty() { all.iter().take(1).collect() } else { own };
        shown.into_iter().take(MOST).map(|(pc, it)| self.named(*pc, it)).collect()
    }

    fn frames(&self, pc: u64) -> Vec<Frame> {
        let frames = self.scene.modules.frames(pc);
        if frames.is_empty() { vec![Frame::default()] } else { frames.to_vec() }
    }

    fn named(&self, pc: u64, frame: &Frame) -> Location {
        let module = self.scene.modules.file(pc);
        let offset = pc - module.as_ref().map_or(0, |it| it.start);
        let unknown = frame.function.is_none() && frame.file.is_none();
        Location { offset: unknown.then_some(offset), ..self.scene.frame(pc, frame) }
    }

    /// `module+0x12`, or the bare address.
    fn code(&self, pc: u64) -> String {
        let Some(module) = self.scene.modules.file(pc) else { return format!("{pc:#x}") };
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}+{:#x}", pc - module.start)
    }

    /// Headers and libraries of the system, and the runtime, are not the program's own code.
    fn is_own_frame(&self, pc: u64, frame: &Frame) -> bool {
        let module = self.scene.modules.file(pc).map(|it| it.path.to_string_lossy());
        let paths = [module.as_deref(), frame.file.as_deref()];
        module.is_some()
            && !paths.into_iter().flatten().any(is_system)
            && frame.file.is_some()
            && !frame.function.as_deref().is_some_and(|it| it.starts_with("norn_rt::"))
    }

    /// A value as the variable's type has it, if that is known.
    pub(super) fn read(&self, address: u64, size: u64, value: Option<u128>) -> Option<String> {
        let variable = self.scene.modules.variable(address, size);
        let variable = variable.or_else(|| match self.memory.place(address)? {
            Region::Stack(on) => self.scene.local(on, address, size).variable,
            _ => None,
        });
        variable?.reading?.text(value?)
    }

    /// What an address belongs to, as an operation on `size` bytes sees it.
    pub(super) fn object(&self, address: u64, size: u64) -> Object {
        let thing = |name| Object { name, allocated_at: None, address: Some(Address(address)) };
        if let Some(variable) = self.scene.modules.variable(address, size) {
            return thing(variable.name);
        }
        match self.memory.place(address) {
            Some(Region::Heap { offset, size, site, freed, .. }) => {
                let what = if freed { "freed heap" } else { "heap" };
                Object {
                    allocated_at: self.made(site),
                    ..thing(format!("{what}[{size}]{}", plus(offset)))
                }
            }
            Some(Region::Mapped { offset, site }) => {
                Object { allocated_at: self.made(site), ..thing(format!("mapped{}", plus(offset))) }
            }
            Some(Region::Stack(on)) => thing(self.scene.local(on, address, size).name),
            None => thing(self.code(address)),
        }
    }

    fn made(&self, site: norn_model::SiteId) -> Option<Location> {
        let pc = self.scene.trace.site(site)?.pc;
        self.places(pc, &[]).into_iter().next()
    }
}

fn pc_of(call: Call) -> Option<u64> {
    match call {
        Call::Call(pc) => Some(pc),
        Call::Unknown(_) => None,
    }
}

/// Whether a file is one of the system's libraries or headers.
fn is_system(path: &str) -> bool {
    ["/lib/", "/lib64/", "/usr/lib/", "/usr/include/"].iter().any(|it| path.starts_with(it))
        || path.contains("/include/c++/")
}

fn plus(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}
