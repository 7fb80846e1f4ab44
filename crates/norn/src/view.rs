//! A trace with its symbols, for `norn dump` and `norn info`.

use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use norn_frontend::{HeapName, HeapNames, HeapTypes, Memory, Region, Symbols};
use norn_model::{Event, Frame, Location, SiteId, StackId, ThreadId, ValueType};
use norn_trace::Trace;

use crate::{cli::TraceArg, front_end::front_end};

/// A trace with its symbols.
pub(crate) struct View {
    pub(crate) trace: Trace,
    pub(crate) symbols: Box<dyn Symbols>,
    /// The types of its heap blocks, found when the first of them is named.
    heap: OnceLock<HeapTypes>,
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
        Ok(View { trace, symbols, heap: OnceLock::new() })
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
            Region::Heap { site, freed, .. } => {
                let HeapName { name, holder, value_type } = self.heap_name(memory, addr, size)?;
                let state = if freed { "freed " } else { "" };
                let of = match holder {
                    Some(holder) => format!(" of {holder}"),
                    // The allocation tells what the type does not.
                    None if name.starts_with("heap[") => self.made_at(site),
                    None => String::new(),
                };
                return Some(Object { name: format!("{state}{name}{of}"), value_type });
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

    fn heap_name(&self, memory: &Memory, addr: u64, size: u64) -> Option<HeapName> {
        let (trace, symbols) = (&self.trace, self.symbols.as_ref());
        let types = self.heap.get_or_init(|| HeapTypes::infer(trace, symbols));
        let calls = |site: SiteId, stack: StackId| {
            let callers = trace.stack(stack).filter_map(|it| match it {
                Frame::Call(pc) => Some(pc),
                Frame::Unknown(_) => None,
            });
            trace.site(site).map(|it| it.pc).into_iter().chain(callers).collect()
        };
        HeapNames { trace, symbols, types, memory, calls: &calls }.name(addr, size)
    }

    fn made_at(&self, site: SiteId) -> String {
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
