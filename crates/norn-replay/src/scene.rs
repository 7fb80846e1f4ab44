//! What a run left, with the files of its modules: names for its numbers.

use std::path::Path;

use norn_model::{ThreadId, ThreadName};
use norn_resolve::{Frame, Local, Locals, Mapped, Modules, OnStack};
use norn_trace::{Inputs, Trace};

use crate::ReplayError;

/// A trace, and who can name what is in it.
#[derive(Debug)]
pub struct Scene {
    /// The trace.
    pub trace: Trace,
    /// The files that were mapped.
    pub modules: Modules,
    locals: Locals,
    /// What came from outside, if that was kept.
    pub(crate) inputs: Option<Inputs>,
}

impl Scene {
    /// Opens a process of a run.
    pub fn open(folder: &Path, process: u32) -> Result<Scene, ReplayError> {
        let mut trace = Trace::open(folder, process)?;
        let mapped = trace.modules().iter().map(|it| Mapped {
            start: it.start,
            end: it.end,
            path: it.path.clone(),
        });
        let modules = Modules::open(mapped);
        trace.learn_copies(|write, read| modules.is_copy(write, read));
        let failed = |source| ReplayError::Inputs { path: folder.to_owned(), source };
        let inputs = Inputs::open(folder).map_err(failed)?;
        Ok(Scene { trace, modules, locals: Locals::default(), inputs })
    }

    /// A thread's name.
    pub fn thread(&self, id: ThreadId) -> ThreadName {
        self.trace.thread(id).map_or_else(|| ThreadName(id.to_string()), |it| it.name.clone())
    }

    /// What lies on a stack, as an access of `size` bytes sees it.
    pub fn local(&self, on: OnStack, addr: u64, size: u64) -> Local {
        self.locals.at((&self.trace, &self.modules), on, addr, size)
    }

    /// `function file.c:12`, as much of it as is known of a place in the code.
    pub fn site(&self, pc: u64) -> Option<String> {
        self.modules.frames(pc).first().and_then(words)
    }

    /// The same with the functions into which it was inlined, innermost first.
    pub fn sites(&self, pc: u64) -> Vec<String> {
        self.modules.frames(pc).iter().filter_map(words).collect()
    }
}

fn words(frame: &Frame) -> Option<String> {
    let (function, source) = (frame.function.as_deref(), source(frame));
    match (function, source) {
        (Some(function), Some(source)) => Some(format!("{function} {source}")),
        (function, source) => source.or_else(|| function.map(str::to_owned)),
    }
}

/// `file.c:12`, with the file's name alone.
fn source(frame: &Frame) -> Option<String> {
    let file = frame.file.as_deref()?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(frame.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}")))
}
