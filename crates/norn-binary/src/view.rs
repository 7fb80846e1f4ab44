//! All data of a module, borrowed from its arena: the parsed files, and the indexes built so far.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use norn_model::{FunctionPattern, ValueType};
use object::{Object as _, ObjectSymbol as _};

use crate::arena::Arena;
use crate::call::{Slots, Targets};
use crate::debug_file::{self, DebugSearch};
use crate::dwarf::Debug;
use crate::elf::{Image, Segment, TlsSegment};
use crate::error::BinaryError;
use crate::line::{Frame, Lines};
use crate::local::{CallSite, FramePart, Functions};
use crate::object_type::{Argument, ObjectType};
use crate::parameter::{self, Signatures};
use crate::pointee::{self, Context};
use crate::reach::{Reach, Walker};
use crate::rust_name;
use crate::symbol::Symbols;
use crate::sync_instruction::{self, SyncInstruction};
use crate::variable::{Variable, Variables};

/// The prefix of the linkage names of the runtime's functions.
const RUNTIME: &str = "_ZN7norn_rt";

/// One module. Data that is not needed to open it is read on first use.
pub(crate) struct View<'a> {
    arena: &'a Arena,
    pub(crate) image: Image<'a>,
    path: PathBuf,
    pub(crate) debug_file: Option<(PathBuf, Image<'a>)>,
    search: DebugSearch,
    pub(crate) segments: Vec<Segment>,
    pub(crate) tls: Option<TlsSegment>,
    symbols: OnceLock<Symbols<'a>>,
    debug: OnceLock<Debug<'a>>,
    lines: Lines<'a>,
    variables: OnceLock<Variables>,
    functions: OnceLock<Functions>,
    sync_instructions: OnceLock<Vec<SyncInstruction>>,
    rust_library: OnceLock<bool>,
    slots: OnceLock<Arc<Slots<'a>>>,
}

impl<'a> View<'a> {
    /// Parses the file, and its debug file if there is one.
    pub(crate) fn open(
        path: &Path,
        search: &DebugSearch,
        arena: &'a Arena,
    ) -> Result<Self, BinaryError> {
        let image = Image::open(path, arena)?;
        Ok(Self {
            arena,
            path: path.to_path_buf(),
            debug_file: debug_file::find(&image, path, search, arena),
            search: search.clone(),
            segments: image.segments(),
            tls: image.tls(),
            image,
            symbols: OnceLock::new(),
            debug: OnceLock::new(),
            lines: Lines::default(),
            variables: OnceLock::new(),
            functions: OnceLock::new(),
            sync_instructions: OnceLock::new(),
            rust_library: OnceLock::new(),
            slots: OnceLock::new(),
        })
    }

    /// The module and its debug file.
    pub(crate) fn images(&self) -> impl Iterator<Item = &Image<'a>> {
        [Some(&self.image), self.debug_file.as_ref().map(|(_, image)| image)].into_iter().flatten()
    }

    /// The symbols of the module and its debug file.
    pub(crate) fn symbols(&self) -> &Symbols<'a> {
        self.symbols.get_or_init(|| {
            Symbols::load(&self.image, self.debug_file.as_ref().map(|(_, image)| image))
        })
    }

    /// Line information comes first. Symbols name the outermost function if it has no line
    /// information.
    pub(crate) fn frames(&self, address: u64) -> Vec<Frame> {
        if !self.segments.iter().any(|segment| segment.executable && segment.contains(address)) {
            return Vec::new();
        }
        let mut frames = self.lines.frames(address, self.debug());
        if frames.last().is_some_and(|frame| frame.function.is_some()) {
            return frames;
        }
        let Some(symbol) = self.symbols().code.covering(address) else { return frames };
        let function = Some(symbol.source_name().into());
        match frames.last_mut() {
            Some(frame) => frame.function = function,
            None => frames.push(Frame { function, ..Frame::default() }),
        }
        frames
    }

    /// The variable at an address, and the part that an access of `size` bytes touches.
    pub(crate) fn variable(&self, address: u64, size: u64) -> Option<Variable> {
        self.variables().in_memory(address, size, self.debug().units(), self.symbols())
    }

    /// The same for an offset in the thread-local block.
    pub(crate) fn tls_variable(&self, offset: u64, size: u64) -> Option<Variable> {
        self.variables().in_tls(offset, size, self.debug().units(), self.symbols())
    }

    /// What is certain about a frame at the call with this return address.
    pub(crate) fn call_site(&self, returns_to: u64) -> Option<CallSite> {
        let code: Vec<_> = self.image.code().collect();
        self.functions().call(returns_to, &code)
    }

    /// The local variable in these bytes of a frame.
    pub(crate) fn local(&self, asked: FramePart) -> Option<Variable> {
        let code: Vec<_> = self.image.code().collect();
        let source = asked.call.and_then(|it| self.frames(it.checked_sub(1)?).pop());
        self.functions().local(asked, source.as_ref(), self.debug().units(), &code)
    }

    /// The type of what the pointer in a part of a frame points to.
    pub(crate) fn local_target(&self, asked: FramePart) -> Option<ObjectType> {
        let code: Vec<_> = self.image.code().collect();
        let source = asked.call.and_then(|it| self.frames(it.checked_sub(1)?).pop());
        let units = self.debug().units();
        let target = self.functions().local_target(asked, source.as_ref(), units, &code)?;
        ObjectType::new(units, target)
    }

    /// The objects into which an argument of a call points.
    pub(crate) fn argument(&self, returns_to: u64, argument: u8) -> Argument {
        let code: Vec<_> = self.image.code().collect();
        let (units, functions) = (self.debug().units(), self.functions());
        let context = Context { units, functions, globals: self.variables(), code: &code };
        Argument::new(units, pointee::pointers(context, returns_to, argument))
    }

    /// The type of what the pointer in a global variable points to.
    pub(crate) fn pointer_target(&self, address: u64) -> Option<ObjectType> {
        let (shape, offset) = self.variables().shape_at(address)?;
        ObjectType::new(self.debug().units(), shape.target_at(offset)?)
    }

    /// The linkage name of the function that a call calls.
    pub(crate) fn called(&self, returns_to: u64) -> Option<&'a str> {
        let slots = self.slots.get_or_init(|| Arc::new(Slots::new(&self.image)));
        Targets::with(&self.image, slots, self.symbols()).called(returns_to)
    }

    /// The part of objects of a type that an access touches.
    pub(crate) fn part_of(
        &self,
        of: &ObjectType,
        count: u64,
        (offset, size): (u64, u64),
    ) -> (String, Option<ValueType>) {
        of.part(self.debug().units(), count, (offset, size))
    }

    /// The parameters of the functions at these addresses.
    pub(crate) fn signatures(&self, wanted: &[u64]) -> Signatures {
        parameter::signatures(self.debug().units(), wanted)
    }

    /// Whether a function whose name matches was inlined anywhere.
    pub(crate) fn is_inlined(&self, pattern: &FunctionPattern) -> bool {
        parameter::is_inlined(self.debug().units(), pattern)
    }

    /// The instructions that may synchronise threads without being recorded.
    pub(crate) fn sync_instructions(&self) -> &[SyncInstruction] {
        self.sync_instructions.get_or_init(|| {
            let runtime = self.runtime();
            let code = self.image.code();
            let all = code.flat_map(|(at, bytes)| sync_instruction::scan(at, bytes, &runtime));
            all.filter(|it| self.is_program(it.address)).collect()
        })
    }

    /// What control flow reaches from an address without a recorded access.
    pub(crate) fn reach(&self, from: u64) -> Reach {
        let targets = Targets::new(&self.image, self.symbols());
        let is_program = |at: u64| self.is_program(at);
        Walker::new(targets, self.runtime(), &is_program).reach(from, 0)
    }

    /// The address of a function that the module exports.
    pub(crate) fn exported(&self, name: &str) -> Option<u64> {
        let symbols = self.image.file.dynamic_symbols();
        let mut exported = symbols.filter(object::ObjectSymbol::is_definition);
        exported.find(|it| it.name() == Ok(name)).map(|it| it.address())
    }

    /// The addresses of Norn's runtime, which is one object file and therefore contiguous.
    pub(crate) fn runtime(&self) -> Range<u64> {
        self.symbols().code.range_of(RUNTIME)
    }

    /// Whether code belongs to the program. Static executables contain libc as well, which usually
    /// has no line information. Programs in Rust contain its compiled library, whose synchronisation is
    /// recorded by other means.
    fn is_program(&self, address: u64) -> bool {
        let dynamic = self.image.file.dynamic_symbol_table().is_some();
        if dynamic && !self.rust_library() {
            return true;
        }
        let frames = self.lines.frames(address, self.debug());
        let is_rust_library =
            frames.last().and_then(|it| it.file.as_deref()).is_some_and(rust_name::is_library_file);
        !is_rust_library && (dynamic || frames.iter().any(|it| it.file.is_some()))
    }

    /// Whether the module contains Rust's standard library.
    pub(crate) fn rust_library(&self) -> &bool {
        self.rust_library.get_or_init(|| {
            let mut variables = self.symbols().tls.sized().iter();
            variables.any(|it| it.source_name() == rust_name::CURRENT_THREAD)
        })
    }

    fn debug(&self) -> &Debug<'a> {
        self.debug.get_or_init(|| {
            let (path, image) = match &self.debug_file {
                Some((path, image)) => (path, image),
                None => (&self.path, &self.image),
            };
            Debug::load(image, path, &self.path, &self.search, self.arena)
        })
    }

    fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::load(self.debug().units()))
    }

    fn variables(&self) -> &Variables {
        self.variables.get_or_init(|| {
            Variables::load(self.debug().units(), self.symbols(), &self.segments, self.tls)
        })
    }
}
