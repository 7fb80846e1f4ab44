//! Symbolizes what a story mentions: places in the code, calls, and objects in memory.

use norn_frontend::{HeapName, Memory, Owner, Region};
use norn_model::{
    Event, Frame as Call, Location, NameId, Op, SiteId, StackId, ThreadId, ThreadName,
    descriptor_number,
};
use norn_report::{Address, Object, Step};

use super::history::StoryScope;
use crate::SymbolizedTrace;

/// Maximum number of calls that a story shows of one event.
const MAX_CALLS: usize = 8;

/// Names threads, places in the code and memory of one run.
pub(super) struct Symbolizer<'a> {
    pub(super) symbolized: &'a SymbolizedTrace,
    pub(super) memory: Memory,
    /// The part of the run in which events are looked for.
    pub(super) scope: StoryScope,
}

impl<'a> Symbolizer<'a> {
    /// For events of all of a run, before the first of them.
    pub(super) fn new(symbolized: &'a SymbolizedTrace) -> Self {
        Symbolizer { symbolized, memory: Memory::default(), scope: StoryScope::All }
    }
}

impl Symbolizer<'_> {
    /// A thread's name.
    pub(super) fn thread(&self, id: ThreadId) -> ThreadName {
        self.symbolized.thread(id)
    }

    /// The name of a function or a mark.
    pub(super) fn name(&self, id: NameId) -> String {
        self.symbolized.trace.names().name(id).to_owned()
    }

    /// An event, and the calls that led to it.
    pub(super) fn step(&self, event: &Event) -> Step {
        let pc = self.symbolized.trace.site(event.site).map_or(0, |it| it.pc);
        let calls: Vec<_> = self.symbolized.trace.stack(event.stack).collect();
        let stack = self.places(pc, &calls);
        Step { thread: self.thread(event.id.thread), event: Some(event.id.index), stack }
    }

    /// The operation that a thread was about to perform when its trace ended.
    pub(super) fn next(&self, thread: ThreadId, pc: u64) -> Step {
        let stack = self.places(pc, &self.symbolized.trace.last_calls(thread));
        Step { thread: self.thread(thread), event: None, stack }
    }

    /// The source location of an event: its innermost frame in the program's own code, if it has one.
    pub(super) fn place(&self, event: &Event) -> Option<Location> {
        self.step(event).stack.into_iter().next()
    }

    /// Whether the program itself performed an event: not a library, and not a system header without
    /// a caller in the program.
    pub(super) fn is_own(&self, event: &Event) -> bool {
        let pc = self.symbolized.trace.site(event.site).map_or(0, |it| it.pc);
        let module = Location {
            module: self.symbolized.symbols.module(pc).map(|it| it.path.display().to_string()),
            ..Location::default()
        };
        let own =
            |pc: u64| self.symbolized.symbols.frames(pc).iter().any(|it| self.is_own_frame(it));
        let calls = self.symbolized.trace.stack(event.stack).filter_map(pc_of);
        module.module.is_some()
            && self.symbolized.symbols.owner(&module) == Owner::Program
            && std::iter::once(pc).chain(calls).any(own)
    }

    /// Whether an access is in code of a library, such as a template that was compiled into the program.
    pub(super) fn is_internal(&self, event: &Event) -> bool {
        let pc = self.symbolized.trace.site(event.site).map_or(0, |it| it.pc);
        let innermost = self.frames(pc).into_iter().next();
        let is_access = matches!(event.op, Op::Read { .. } | Op::Write { .. });
        is_access && innermost.is_some_and(|it| !self.is_own_frame(&it))
    }

    /// The program's own frames of a place and its callers; the first frame if there are none.
    fn places(&self, pc: u64, calls: &[Call]) -> Vec<Location> {
        let all: Vec<Location> = std::iter::once(pc)
            .chain(calls.iter().copied().filter_map(pc_of))
            .flat_map(|pc| self.frames(pc))
            .collect();
        let own: Vec<_> = all.iter().filter(|it| self.is_own_frame(it)).collect();
        let shown = if own.is_empty() { all.iter().take(1).collect() } else { own };
        shown.into_iter().take(MAX_CALLS).cloned().collect()
    }

    /// The function of the language's library or of a dependency that the program called, if the thread is in one.
    pub(super) fn library_call(&self, thread: ThreadId, pc: u64) -> Option<Object> {
        let symbols = &self.symbolized.symbols;
        let calls = self.symbolized.trace.last_calls(thread);
        let all = std::iter::once(pc).chain(calls.iter().copied().filter_map(pc_of));
        let frames = all.flat_map(|pc| self.frames(pc));
        let of_library = frames.take_while(|it| symbols.is_folded(it));
        let function = of_library.filter_map(|it| it.function).last()?;
        Some(Object::named(format!("{function}()")))
    }

    /// The frames of a place. A frame without names has its offset in the module.
    fn frames(&self, pc: u64) -> Vec<Location> {
        let module = self.symbolized.symbols.module(pc);
        let offset = pc - module.map_or(0, |it| it.start);
        let frames = self.symbolized.symbols.frames(pc);
        let unknown = || Location {
            module: module.map(|it| it.path.to_string_lossy().into_owned()),
            ..Location::default()
        };
        let frames = if frames.is_empty() { vec![unknown()] } else { frames.to_vec() };
        let located = |it: Location| {
            let unnamed = it.function.is_none() && it.file.is_none();
            Location { offset: unnamed.then_some(offset), ..it }
        };
        frames.into_iter().map(located).collect()
    }

    /// `module+0x12`, or the bare address.
    fn code(&self, pc: u64) -> String {
        let Some(module) = self.symbolized.symbols.module(pc) else { return format!("{pc:#x}") };
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}+{:#x}", pc - module.start)
    }

    fn is_own_frame(&self, frame: &Location) -> bool {
        frame.module.is_some()
            && frame.file.is_some()
            && self.symbolized.symbols.owner(frame) == Owner::Program
    }

    /// A value formatted by the type of its variable, if that is known.
    pub(super) fn read(&self, address: u64, size: u64, value: Option<u128>) -> Option<String> {
        let variable = self.symbolized.symbols.variable(address, size);
        let value_type = variable.map(|it| it.value_type);
        let value_type = value_type.or_else(|| match self.memory.region(address)? {
            Region::Stack(on) => {
                Some(self.symbolized.local(on, address, size).variable?.value_type)
            }
            Region::Heap { .. } => Some(self.heap_name(address, size)?.value_type),
            Region::Mapped { .. } => None,
        });
        value_type??.text(value?)
    }

    /// The object at an address, for an operation on `size` bytes.
    pub(super) fn object(&self, address: u64, size: u64) -> Object {
        if let Some(number) = descriptor_number(address) {
            return Object::named(format!("descriptor {number}"));
        }
        let address_of = Some(Address(address));
        let named = |name| Object { address: address_of, ..Object::named(name) };
        if let Some(variable) = self.symbolized.symbols.variable(address, size) {
            return named(variable.name);
        }
        match self.memory.region(address) {
            Some(Region::Heap { site, stack, freed, .. }) => {
                let HeapName { name, holder, .. } =
                    self.heap_name(address, size).unwrap_or_default();
                let name = if freed { format!("freed {name}") } else { name };
                let allocated_at = self.allocation_site(site, Some(stack));
                Object { holder, allocated_at, ..named(name) }
            }
            Some(Region::Mapped { offset, site }) => Object {
                allocated_at: self.allocation_site(site, None),
                ..named(format!("mapped{}", plus(offset)))
            },
            Some(Region::Stack(on)) => named(self.symbolized.local(on, address, size).name),
            None => named(self.code(address)),
        }
    }

    /// The name of what is at an address on the heap.
    pub(super) fn heap_name(&self, address: u64, size: u64) -> Option<HeapName> {
        let trace = &self.symbolized.trace;
        let calls = |site: SiteId, stack: StackId| {
            let pc = trace.site(site).map(|it| it.pc);
            pc.into_iter().chain(trace.stack(stack).filter_map(pc_of)).collect()
        };
        self.symbolized.heap_name(&self.memory, &calls, (address, size))
    }

    /// A synchronization object. Its size distinguishes a variable from its first member.
    pub(super) fn primitive(&self, address: u64, class: norn_model::Object) -> Object {
        self.object(address, self.symbolized.symbols.object_size(class))
    }

    /// Where memory was allocated: the line of the program, also if a library allocates it there.
    fn allocation_site(&self, site: SiteId, stack: Option<StackId>) -> Option<Location> {
        let trace = &self.symbolized.trace;
        let calls: Vec<_> = stack.into_iter().flat_map(|it| trace.stack(it)).collect();
        self.places(trace.site(site)?.pc, &calls).into_iter().next()
    }
}

fn pc_of(call: Call) -> Option<u64> {
    match call {
        Call::Call(pc) => Some(pc),
        Call::Unknown(_) => None,
    }
}

fn plus(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}
