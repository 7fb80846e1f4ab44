//! Names for what a story is about: places in the code, calls, and what addresses belong to.

use std::fmt;

use norn_model::{Event, Frame as Call, NameId, ThreadId, ThreadName};
use norn_resolve::{Frame, Memory, Place as Region};
use serde::Serialize;

use crate::Scene;

/// The most calls that a story tells of one event.
const MOST: usize = 8;

/// A place in the code, as much as is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The file, with its folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `module+0x12`, if nothing else is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Place {
    /// `file.c:12`, with the file's name alone.
    pub fn source(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        let name = file.rsplit('/').next().unwrap_or(file);
        Some(self.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}")))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.function, self.source(), &self.code) {
            (Some(function), Some(source), _) => write!(f, "{function} {source}"),
            (Some(function), None, _) => f.write_str(function),
            (None, Some(source), _) => f.write_str(&source),
            (None, None, code) => f.write_str(code.as_deref().unwrap_or("a place without a name")),
        }
    }
}

/// What one thread did, or is about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Who.
    pub thread: ThreadName,
    /// Which of its events, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Where, and by which calls, innermost first.
    pub at: Vec<Place>,
}

/// What an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thing {
    /// The variable, or a word for what else it is.
    pub name: String,
    /// Where its memory was allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Place>,
    /// The address.
    #[serde(serialize_with = "hexadecimal")]
    pub address: u64,
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.made {
            Some(made) => write!(f, "{} from {made}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(super) fn hexadecimal<S: serde::Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{number:#x}"))
}

/// A number that JSON readers take: large ones as text.
#[expect(clippy::ref_option, reason = "serde calls it so")]
pub(super) fn value_text<S: serde::Serializer>(
    value: &Option<u128>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match value.map(u64::try_from) {
        None => to.serialize_none(),
        Some(Ok(small)) => to.serialize_u64(small),
        Some(Err(_)) => to.collect_str(&value.unwrap_or_default()),
    }
}

/// Knows the names.
pub(super) struct Guide<'a> {
    pub(super) scene: &'a Scene,
    pub(super) memory: Memory,
}

impl Guide<'_> {
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
        let at = self.places(pc, &calls);
        Step { thread: self.thread(event.id.thread), event: Some(event.id.index), at }
    }

    /// What a thread was about to do when its trace ended.
    pub(super) fn next(&self, thread: ThreadId, pc: u64) -> Step {
        let at = self.places(pc, &self.scene.trace.last_calls(thread));
        Step { thread: self.thread(thread), event: None, at }
    }

    /// Where an event was, in the code of the program if there is any on the way to it.
    pub(super) fn place(&self, event: &Event) -> Option<Place> {
        self.step(event).at.into_iter().next()
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
    fn places(&self, pc: u64, calls: &[Call]) -> Vec<Place> {
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

    fn named(&self, pc: u64, frame: &Frame) -> Place {
        let unknown = frame.function.is_none() && frame.file.is_none();
        Place {
            function: frame.function.as_deref().map(str::to_owned),
            file: frame.file.as_deref().map(str::to_owned),
            line: frame.line,
            code: unknown.then(|| self.code(pc)),
        }
    }

    /// `module+0x12`, or the bare address.
    fn code(&self, pc: u64) -> String {
        let Some(module) = self.scene.modules.file(pc) else { return format!("{pc:#x}") };
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}+{:#x}", pc - module.start)
    }

    /// Headers and libraries of the system, and the runtime, are nobody's bug.
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
    pub(super) fn thing(&self, address: u64, size: u64) -> Thing {
        let thing = |name| Thing { name, made: None, address };
        if let Some(variable) = self.scene.modules.variable(address, size) {
            return thing(variable.name);
        }
        match self.memory.place(address) {
            Some(Region::Heap { offset, size, site, freed, .. }) => {
                let what = if freed { "freed heap" } else { "heap" };
                Thing { made: self.made(site), ..thing(format!("{what}[{size}]{}", plus(offset))) }
            }
            Some(Region::Mapped { offset, site }) => {
                Thing { made: self.made(site), ..thing(format!("mapped{}", plus(offset))) }
            }
            Some(Region::Stack(on)) => thing(self.scene.local(on, address, size).name),
            None => thing(self.code(address)),
        }
    }

    fn made(&self, site: norn_model::SiteId) -> Option<Place> {
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
