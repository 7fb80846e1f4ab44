//! A trace with its symbols, for `norn dump` and `norn info`.

use std::sync::Arc;

use anyhow::Context as _;
use norn_frontend::{Memory, Region, Symbols};
use norn_model::{Event, Location, ThreadId, ValueType};
use norn_trace::Trace;

use crate::{cli::TraceArg, front_end::front_end};

/// A trace with its symbols.
pub(crate) struct View {
    pub(crate) trace: Trace,
    pub(crate) symbols: Box<dyn Symbols>,
}

/// The object at an address.
pub(crate) struct Object {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) value_type: Option<ValueType>,
}

impl View {
    /// Opens a trace and the files of its modules.
    pub(crate) fn open(arg: &TraceArg) -> anyhow::Result<View> {
        let mut trace = Trace::open(&arg.folder, arg.process()?)?;
        let symbols = front_end().symbols(&trace);
        trace.learn_copies(|write, read| symbols.is_copy(write, read));
        Ok(View { trace, symbols })
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
    pub(crate) fn frames(&self, event: &Event) -> Arc<[Location]> {
        let pc = self.trace.site(event.site).map_or(0, |it| it.pc);
        self.unfolded(&self.symbols.frames(pc)).into()
    }

    /// The frames from the first one on that is shown.
    fn unfolded<'a>(&self, frames: &'a [Location]) -> &'a [Location] {
        let first = frames.iter().position(|it| !self.symbols.is_folded(it));
        let first = first.unwrap_or(frames.len().saturating_sub(1));
        &frames[first..]
    }

    /// The name of an address: a variable, a part of a heap block, a stack; and its type, if that is
    /// known.
    pub(crate) fn object(&self, memory: &Memory, addr: u64, size: u64) -> Option<Object> {
        if let Some(variable) = self.symbols.variable(addr, size) {
            return Some(Object { name: variable.name, value_type: variable.value_type });
        }
        let name = match memory.region(addr)? {
            Region::Heap { offset, size, site, freed, .. } => {
                let state = if freed { "freed heap" } else { "heap" };
                format!("{state}[{size}]{}{}", plus(offset), self.made_at(site))
            }
            Region::Mapped { offset, site } => {
                format!("mapped{}{}", plus(offset), self.made_at(site))
            }
            Region::Stack(on) => {
                let local = self.symbols.local(&self.trace, on, addr, size);
                let value_type = local.variable.and_then(|it| it.value_type);
                return Some(Object { name: local.name, value_type });
            }
        };
        Some(Object { name, value_type: None })
    }

    fn made_at(&self, site: norn_model::SiteId) -> String {
        let frames = self.symbols.frames(self.trace.site(site).map_or(0, |it| it.pc));
        self.unfolded(&frames)
            .first()
            .and_then(source)
            .map_or_else(String::new, |it| format!(" from {it}"))
    }
}

/// `file.c:12:5`, as much of it as is known, with the file's name alone.
pub(crate) fn source(frame: &Location) -> Option<String> {
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
