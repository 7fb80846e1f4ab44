//! A trace together with its symbols.

use std::{path::Path, sync::OnceLock};

use norn_frontend::{FrontEnd, HeapName, HeapNames, HeapTypes, Local, Memory, OnStack, Symbols};
use norn_model::{Location, SiteId, StackId, ThreadId, ThreadName};
use norn_trace::{Inputs, Trace};

use crate::ReplayError;

/// A trace together with its symbols.
#[derive(Debug)]
pub struct SymbolizedTrace {
    /// The trace.
    pub trace: Trace,
    /// Its symbols.
    pub symbols: Box<dyn Symbols>,
    /// The inputs of the run, if they were recorded.
    pub(crate) inputs: Option<Inputs>,
    /// The types of its heap blocks, found when the first of them is named.
    heap: OnceLock<HeapTypes>,
}

impl SymbolizedTrace {
    /// Opens a process of a run.
    pub fn open(
        front_end: &dyn FrontEnd,
        folder: &Path,
        process: u32,
    ) -> Result<SymbolizedTrace, ReplayError> {
        let mut trace = Trace::open(folder, process)?;
        let symbols = front_end.symbols(&trace);
        trace.learn_copies(|write, read| symbols.is_copy(write, read));
        let failed = |source| ReplayError::Inputs { path: folder.to_owned(), source };
        let inputs = Inputs::open(folder).map_err(failed)?;
        Ok(SymbolizedTrace { trace, symbols, inputs, heap: OnceLock::new() })
    }

    /// The name of a thread.
    pub fn thread(&self, id: ThreadId) -> ThreadName {
        self.trace.thread(id).map_or_else(|| ThreadName(id.to_string()), |it| it.name.clone())
    }

    /// The local variable at an address, as an access of `size` bytes sees it.
    pub fn local(&self, on: OnStack, addr: u64, size: u64) -> Local {
        self.symbols.local(&self.trace, on, addr, size)
    }

    /// The name of what is at an address on the heap, for an operation on `size` bytes; none if the
    /// address is elsewhere. `calls` lists the place of an allocation and its callers, innermost first.
    pub fn heap_name(
        &self,
        memory: &Memory,
        calls: &dyn Fn(SiteId, StackId) -> Vec<u64>,
        (addr, size): (u64, u64),
    ) -> Option<HeapName> {
        memory.block(addr)?;
        let (trace, symbols) = (&self.trace, self.symbols.as_ref());
        let types = self.heap.get_or_init(|| HeapTypes::infer(trace, symbols));
        HeapNames { trace, symbols, types, memory, calls }.name(addr, size)
    }

    /// The source location of a place in the code, if it has one.
    pub fn location(&self, pc: u64) -> Option<Location> {
        self.locations(pc).into_iter().next()
    }

    /// The source locations of a place and of the functions into which it was inlined, innermost first.
    pub fn locations(&self, pc: u64) -> Vec<Location> {
        let known = |it: &Location| it.function.is_some() || it.file.is_some();
        self.frames(pc).into_iter().filter(known).collect()
    }

    /// All frames of a place, including those of which only the module is known.
    pub fn frames(&self, pc: u64) -> Vec<Location> {
        self.symbols.frames(pc).to_vec()
    }
}
