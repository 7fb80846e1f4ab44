//! A trace with the names of everything in it.

use std::sync::Arc;

use anyhow::Context as _;
use norn_model::{Event, ThreadId};
use norn_resolve::{Frame, Locals, Mapped, Memory, Modules, Place, Reading};
use norn_trace::Trace;

use crate::cli::TraceArg;

/// A trace, and who can name what is in it.
pub(crate) struct View {
    pub(crate) trace: Trace,
    pub(crate) modules: Modules,
    locals: Locals,
}

/// What an address belongs to.
pub(crate) struct Object {
    /// What it is called.
    pub(crate) name: String,
    /// How to read what is there.
    pub(crate) reading: Option<Reading>,
}

impl View {
    /// Opens a trace and the files of its modules.
    pub(crate) fn open(arg: &TraceArg) -> anyhow::Result<View> {
        let mut trace = Trace::open(&arg.folder, arg.process()?)?;
        let mapped = trace.modules().iter().map(|it| Mapped {
            start: it.start,
            end: it.end,
            path: it.path.clone(),
        });
        let modules = Modules::open(mapped);
        trace.learn_copies(|write, read| modules.is_copy(write, read));
        Ok(View { trace, modules, locals: Locals::default() })
    }

    /// A thread's name.
    pub(crate) fn thread(&self, id: ThreadId) -> String {
        self.trace.thread(id).map_or_else(|| id.to_string(), |it| it.name.to_string())
    }

    /// The thread with a name.
    pub(crate) fn thread_named(&self, name: &str) -> anyhow::Result<ThreadId> {
        let found = self.trace.threads().iter().find(|it| it.name.0 == name);
        found.map(|it| it.id).with_context(|| {
            let names: Vec<_> = self.trace.threads().iter().map(|it| it.name.0.as_str()).collect();
            format!("there is no thread `{name}`\nhint: there are {}", names.join(", "))
        })
    }

    /// The source of an event, innermost frame first.
    pub(crate) fn frames(&self, event: &Event) -> Arc<[Frame]> {
        let pc = self.trace.site(event.site).map_or(0, |it| it.pc);
        self.modules.frames(pc)
    }

    /// What an address is called: a variable, a part of a heap block, a stack. And how to read what
    /// is there, if that is known.
    pub(crate) fn object(&self, memory: &Memory, addr: u64, size: u64) -> Option<Object> {
        if let Some(variable) = self.modules.variable(addr, size) {
            return Some(Object { name: variable.name, reading: variable.reading });
        }
        let name = match memory.place(addr)? {
            Place::Heap { offset, size, site, freed, .. } => {
                let state = if freed { "freed heap" } else { "heap" };
                format!("{state}[{size}]{}{}", plus(offset), self.made_at(site))
            }
            Place::Mapped { offset, site } => {
                format!("mapped{}{}", plus(offset), self.made_at(site))
            }
            Place::Stack(on) => {
                let local = self.locals.at((&self.trace, &self.modules), on, addr, size);
                let reading = local.variable.and_then(|it| it.reading);
                return Some(Object { name: local.name, reading });
            }
        };
        Some(Object { name, reading: None })
    }

    fn made_at(&self, site: norn_model::SiteId) -> String {
        let frames = self.modules.frames(self.trace.site(site).map_or(0, |it| it.pc));
        frames.first().and_then(source).map_or_else(String::new, |it| format!(" from {it}"))
    }
}

/// `file.c:12:5`, as much of it as is known, with the file's name alone.
pub(crate) fn source(frame: &Frame) -> Option<String> {
    let file = frame.file.as_deref()?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(match (frame.line, frame.column) {
        (Some(line), Some(column)) => format!("{name}:{line}:{column}"),
        (Some(line), None) => format!("{name}:{line}"),
        (None, _) => name.to_owned(),
    })
}

fn plus(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}
