//! What a run left, with the files of its modules: names for its numbers.

use std::{path::Path, sync::Arc};

use norn_model::{Location, ThreadId, ThreadName};
use norn_resolve::{Frame, Local, Locals, Mapped, Modules, OnStack};
use norn_trace::{Inputs, Trace};

use crate::ReplayError;

/// A trace, and who can name what is in it.
#[derive(Debug)]
pub struct Scene {
    /// The trace.
    pub trace: Trace,
    /// The files that were mapped. Runs of one program that mapped them alike share them, since
    /// reading their debug information takes longer than reading a trace.
    pub modules: Arc<Modules>,
    locals: Locals,
    /// What came from outside, if that was kept.
    pub(crate) inputs: Option<Inputs>,
}

impl Scene {
    /// Opens a process of a run.
    pub fn open(folder: &Path, process: u32) -> Result<Scene, ReplayError> {
        Scene::open_with(folder, process, None)
    }

    /// Opens a process of a run, with the modules of another run if it mapped the same ones.
    pub fn open_with(
        folder: &Path,
        process: u32,
        known: Option<&Arc<Modules>>,
    ) -> Result<Scene, ReplayError> {
        let mut trace = Trace::open(folder, process)?;
        let mapped = trace.modules().iter().map(|it| Mapped {
            start: it.start,
            end: it.end,
            path: it.path.clone(),
        });
        let mapped: Vec<_> = mapped.collect();
        let same = known.filter(|it| it.is_of(&mapped)).cloned();
        let modules = same.unwrap_or_else(|| Arc::new(Modules::open(mapped)));
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
        self.locals.at((&self.trace, &*self.modules), on, addr, size)
    }

    /// The source location of a place in the code, if anything is known of it.
    pub fn location(&self, pc: u64) -> Option<Location> {
        self.locations(pc).into_iter().next()
    }

    /// The same with the functions into which it was inlined, innermost first.
    pub fn locations(&self, pc: u64) -> Vec<Location> {
        let known = |it: &Location| it.function.is_some() || it.file.is_some();
        self.frames(pc).into_iter().filter(known).collect()
    }

    /// The same, also of frames of which only the module is known.
    pub fn frames(&self, pc: u64) -> Vec<Location> {
        self.modules.frames(pc).iter().map(|it| self.frame(pc, it)).collect()
    }

    /// The source location of a frame.
    pub(crate) fn frame(&self, pc: u64, frame: &Frame) -> Location {
        let module = self.modules.file(pc);
        Location {
            function: frame.function.as_deref().map(str::to_owned),
            file: frame.file.as_deref().map(str::to_owned),
            line: frame.line,
            column: frame.column,
            module: module.map(|it| it.path.to_string_lossy().into_owned()),
            offset: None,
        }
    }
}
