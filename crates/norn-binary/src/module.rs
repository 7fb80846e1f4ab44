//! The module: the interface of this crate to the rest of Norn.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use norn_model::{FunctionPattern, ValueType};

use crate::arena::Anchored;
use crate::call::{self, Call};
use crate::code_view::CodeView;
use crate::copy;
use crate::debug_file::DebugSearch;
use crate::elf::{BuildId, Image, Segment, TlsSegment};
use crate::error::BinaryError;
use crate::function::{self, Entry as FunctionEntry, Import};
use crate::instrument::{self, Instrumented};
use crate::line::Frame;
use crate::local::{CallSite, FramePart};
use crate::object_type::{Argument, ObjectType};
use crate::parameter::Parameter;
use crate::reach::Reach;
use crate::room;
use crate::symbol::{Entry, Symbol};
use crate::sync_instruction::SyncInstruction;
use crate::variable::Variable;
use crate::view::View;

/// An executable or a shared library, with the debug information that is available for it.
///
/// All methods can be called from several threads at once. Data is read when it is first needed,
/// so opening is cheap. Addresses are module-relative; see the documentation of the crate.
pub struct Module {
    path: PathBuf,
    debug_file: Option<PathBuf>,
    segments: Vec<Segment>,
    content: Anchored,
}

impl Module {
    /// Opens the file, and its debug file if there is one in the default locations.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BinaryError> {
        Self::open_with(path, &DebugSearch::default())
    }

    /// Opens the file and searches for its debug file in the given locations.
    pub fn open_with(path: impl AsRef<Path>, search: &DebugSearch) -> Result<Self, BinaryError> {
        let path = path.as_ref();
        let content = Anchored::new(|arena| View::open(path, search, arena))?;
        let debug_file =
            content.with(|view| view.debug_file.as_ref().map(|(path, _)| path.clone()));
        let segments = content.with(|view| view.segments.clone());
        Ok(Self { path: path.to_path_buf(), debug_file, segments, content })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The separate file from which the debug information comes.
    pub fn debug_file(&self) -> Option<&Path> {
        self.debug_file.as_deref()
    }

    /// The build id that the linker gave to this build.
    pub fn build_id(&self) -> Option<BuildId> {
        self.content.with(|view| view.image.build_id().map(|id| BuildId(id.to_vec())))
    }

    /// Identifies this build: the linker's build id, or a checksum of the file if there is none.
    pub fn identity(&self) -> String {
        self.build_id().map_or_else(
            || {
                let data = self.content.with(|view| view.image.file.data().to_vec());
                format!("crc32-{:08x}-{}", crc32fast::hash(&data), data.len())
            },
            |id| id.to_string(),
        )
    }

    /// The address of the module's lowest page.
    pub fn first_page(&self) -> u64 {
        const PAGE: u64 = 4096;
        self.segments().iter().map(|it| it.address).min().unwrap_or(0) & !(PAGE - 1)
    }

    /// Whether the full symbol table is missing, here and in the debug file: functions that the
    /// module does not export then have no names, unless there is line information.
    pub fn is_stripped(&self) -> bool {
        self.content.with(|view| !view.images().any(instrument::has_symtab))
    }

    /// Whether there is debug information for lines.
    pub fn has_lines(&self) -> bool {
        let has = |image: &Image<'_>| {
            [".debug_info", ".debug_line"].iter().all(|name| image.has_section(name))
        };
        self.content.with(|view| view.images().any(has))
    }

    /// Whether the module's code calls the hooks of ThreadSanitizer's instrumentation.
    pub fn instrumented(&self) -> Instrumented {
        self.content.with(|view| {
            let debug_file = view.debug_file.as_ref().map(|(_, image)| image);
            instrument::instrumented(&view.image, debug_file)
        })
    }

    /// The parts of the file that the loader maps, in the order of the file.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The thread-local storage of the module, if it has any.
    pub fn tls(&self) -> Option<TlsSegment> {
        self.content.with(|view| view.tls)
    }

    /// The module-relative address at which this byte of the file is mapped.
    pub fn address_of_file_offset(&self, offset: u64) -> Option<u64> {
        let mut segments = self.segments().iter();
        segments.find_map(|segment| {
            let inside = offset.checked_sub(segment.file_offset)?;
            (inside < segment.file_size).then(|| segment.address.wrapping_add(inside))
        })
    }

    /// The load bias, from an *executable* line of `/proc/PID/maps`: the start of the mapping in
    /// memory and in the file.
    ///
    /// Mappings begin at page boundaries, so two segments may share a page of the file and have
    /// similar mappings. Executable segments do not share pages.
    pub fn load_bias(&self, start: u64, file_offset: u64) -> Option<u64> {
        const PAGE: u64 = 4096;
        let segment = self.segments().iter().find(|segment| {
            let first = segment.file_offset & !(PAGE - 1);
            let end = segment.file_offset.saturating_add(segment.file_size);
            segment.executable && (first..end).contains(&file_offset)
        })?;
        let address = segment.address.wrapping_sub(segment.file_offset).wrapping_add(file_offset);
        Some(start.wrapping_sub(address))
    }

    /// The frames at an address: innermost first, including inlined ones, with the actual function
    /// last. Empty if not even a symbol covers the address.
    ///
    /// The address must lie *in* the instruction. A return address lies after the call, possibly on
    /// another line or in another function, so callers subtract 1 from it.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        self.content.with(|view| view.frames(address))
    }

    /// The function symbol that covers an address.
    pub fn symbol(&self, address: u64) -> Option<Symbol> {
        self.content.with(|view| view.symbols().code.covering(address).map(Entry::to_symbol))
    }

    /// The symbols of thread-local variables; their addresses are offsets in the module's block.
    pub fn thread_local_symbols(&self) -> Vec<Symbol> {
        self.content
            .with(|view| view.symbols().tls.sized().iter().map(|it| it.to_symbol()).collect())
    }

    /// The value of a constant of 4 bytes that the module exports.
    pub fn constant(&self, name: &str) -> Option<u32> {
        self.content.with(|view| view.image.constant(name))
    }

    /// Whether functions have `before` bytes of padding for patching, as `norn cc` reserves them.
    pub fn has_room(&self, before: usize) -> bool {
        self.content.with(|view| room::is_there(&view.image, before))
    }

    /// The functions with `before` bytes of padding before them, by ascending address.
    pub fn entries(&self, before: u64) -> Vec<FunctionEntry> {
        self.content.with(|view| {
            let debug_file = view.debug_file.as_ref().map(|(_, image)| image);
            function::entries(&view.image, debug_file, before)
        })
    }

    /// All functions with symbols, by ascending address, with or without padding.
    pub fn functions(&self) -> Vec<FunctionEntry> {
        self.content.with(|view| {
            let debug_file = view.debug_file.as_ref().map(|(_, image)| image);
            function::functions(&view.image, debug_file)
        })
    }

    /// The parameters of the functions at these addresses, as far as there is debug information.
    pub fn signatures(&self, wanted: &[u64]) -> BTreeMap<u64, Vec<Parameter>> {
        self.content.with(|view| view.signatures(wanted))
    }

    /// Whether a function whose name matches was inlined anywhere.
    pub fn is_inlined(&self, pattern: &FunctionPattern) -> bool {
        self.content.with(|view| view.is_inlined(pattern))
    }

    /// The functions that the module imports, by their GOT entries.
    pub fn imports(&self) -> Vec<Import> {
        self.content.with(|view| function::imports(&view.image))
    }

    /// All calls in the code, by ascending address.
    pub fn calls(&self) -> Vec<Call> {
        self.content.with(|view| call::calls(&view.image, view.symbols()))
    }

    /// Whether the module contains Rust's standard library.
    pub fn has_rust_library(&self) -> bool {
        self.content.with(|view: &View<'_>| *view.rust_library())
    }

    /// The slots of the global offset table with functions of this module, and their linkage names.
    pub fn own_slots(&self) -> Vec<(u64, String)> {
        self.content.with(|view| {
            let symbols = view.symbols();
            let named = |(slot, function)| Some((slot, symbols.code.at(function)?.name.to_owned()));
            call::own_slots(&view.image).into_iter().filter_map(named).collect()
        })
    }

    /// Gives access to the code, for analyses that decode it themselves.
    pub fn with_code<T>(&self, look: impl FnOnce(&CodeView<'_>) -> T) -> T {
        self.content.with(|view| look(&CodeView::new(&view.image, view.symbols(), view.runtime())))
    }

    /// The instructions that may synchronise threads without being recorded, by ascending address.
    /// Those of Norn's runtime are left out.
    pub fn sync_instructions(&self) -> Vec<SyncInstruction> {
        self.content.with(|view| view.sync_instructions().to_vec())
    }

    /// Whether there are such instructions. All code is decoded once to determine this.
    pub fn has_sync_instructions(&self) -> bool {
        self.content.with(|view| !view.sync_instructions().is_empty())
    }

    /// What control flow reaches from an address without a recorded access.
    pub fn reach(&self, from: u64) -> Reach {
        self.content.with(|view| view.reach(from))
    }

    /// The address of a function that the module exports.
    pub fn exported(&self, name: &str) -> Option<u64> {
        self.content.with(|view| view.exported(name))
    }

    /// Whether a write hook that returns to `write` and a read hook that returns to `read` belong
    /// to one copy that follows them: the value to be written is then the value read.
    pub fn is_copy(&self, write: u64, read: u64) -> bool {
        self.content.with(|view| copy::is_copy(view.image.code(), write, read))
    }

    /// The global or static variable at an address. Its name includes the path to the part that an
    /// access of `size` bytes touches; a size of 0 or 1 selects whatever is at the address.
    ///
    /// An access that touches several members names them: `point.{x, y}`; one that covers a whole
    /// struct or array names that; of a union, the member that fits best is chosen, the first of
    /// equals.
    pub fn variable(&self, address: u64, size: u64) -> Option<Variable> {
        self.content.with(|view| view.variable(address, size))
    }

    /// The thread-local variable at an offset in the module's block, by the same rules.
    pub fn tls_variable(&self, offset: u64, size: u64) -> Option<Variable> {
        self.content.with(|view| view.tls_variable(offset, size))
    }

    /// The objects into which an argument of the call with this return address points, by the debug
    /// information of the pointers from which it was computed. Arguments count from 0, those of
    /// integers and pointers only.
    pub fn argument(&self, returns_to: u64, argument: u8) -> Argument {
        self.content.with(|view| view.argument(returns_to, argument))
    }

    /// The type of what the pointer at an address points to, if it is in a global variable.
    pub fn pointer_target(&self, address: u64) -> Option<ObjectType> {
        self.content.with(|view| view.pointer_target(address))
    }

    /// The linkage name of the function that the call with this return address calls.
    pub fn called(&self, returns_to: u64) -> Option<String> {
        self.content.with(|view| view.called(returns_to).map(str::to_owned))
    }

    /// The part of `count` consecutive objects of a type that an access touches, in the notation of
    /// [`Module::variable`] without the name of the variable, and how to format its value.
    pub fn part_of(
        &self,
        of: &ObjectType,
        count: u64,
        (offset, size): (u64, u64),
    ) -> (String, Option<ValueType>) {
        self.content.with(|view| view.part_of(of, count, (offset, size)))
    }

    /// What is certain about a frame at the call with this return address.
    pub fn call_site(&self, returns_to: u64) -> Option<CallSite> {
        self.content.with(|view| view.call_site(returns_to))
    }

    /// The local variable in these bytes of a frame, named by the rules of [`Module::variable`].
    /// `None` if the bytes could belong to another variable as well.
    pub fn local(&self, asked: FramePart) -> Option<Variable> {
        self.content.with(|view| view.local(asked))
    }

    /// The type of what the pointer in a part of a frame points to.
    pub fn local_target(&self, asked: FramePart) -> Option<ObjectType> {
        self.content.with(|view| view.local_target(asked))
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("path", &self.path)
            .field("build_id", &self.build_id())
            .field("debug_file", &self.debug_file())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_can_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<Module>();
    }
}
