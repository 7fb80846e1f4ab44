//! Maps addresses to functions, inlined calls and lines.
//!
//! The `addr2line` crate reads line programs and inlined calls lazily, unit by unit, and caches
//! them without a lock. So one reader serves one thread at a time. Readers are pooled: each lookup
//! takes an idle one or creates a new one, and returns it. There are at most as many readers as
//! concurrent lookups, and they share the bytes they read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use addr2line::{Context, FunctionName, Location, LookupContinuation, LookupResult};
use gimli::UnitOffset;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::demangle::demangle;
use crate::dwarf::{Debug, Slice};
use crate::name;
use crate::split::DwoName;
use crate::unit::DieId;

/// A function on the call path to an instruction, and the line in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The qualified source name of the function without parameters: `bank::Account::deposit`.
    pub function: Option<Arc<str>>,
    /// The file, made absolute with the compile directory.
    pub file: Option<Arc<str>>,
    /// The line of the instruction, or of the inlined call in it.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// Whether the function was inlined into the next frame.
    pub inlined: bool,
}

/// The pool of readers.
#[derive(Default)]
pub(crate) struct Lines<'a> {
    idle: Mutex<Vec<Reader<'a>>>,
    damaged: AtomicBool,
}

impl<'a> Lines<'a> {
    /// The frames at an address, innermost first; none if debug information does not cover it.
    pub(crate) fn frames(&self, address: u64, debug: &Debug<'a>) -> Vec<Frame> {
        let Some(mut reader) = self.take(debug) else { return Vec::new() };
        let frames = reader.frames(address, debug).unwrap_or_default();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        frames
    }

    fn take(&self, debug: &Debug<'a>) -> Option<Reader<'a>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if idle.is_some() || self.damaged.load(Ordering::Relaxed) {
            return idle;
        }
        let reader = Reader::new(debug);
        self.damaged.store(reader.is_none(), Ordering::Relaxed);
        reader
    }
}

struct Reader<'a> {
    context: Context<Slice<'a>>,
    names: Names<'a>,
}

impl<'a> Reader<'a> {
    fn new(debug: &Debug<'a>) -> Option<Self> {
        let context = Context::from_arc_dwarf(Arc::clone(&debug.sections)).ok()?;
        Some(Self { context, names: Names::default() })
    }

    fn frames(&mut self, address: u64, debug: &Debug<'a>) -> gimli::Result<Vec<Frame>> {
        let mut frames = Vec::new();
        // The crate would add 1 to the address.
        if address == u64::MAX {
            return Ok(frames);
        }
        let mut found = finish(self.context.find_frames(address), debug)?;
        while let Some(frame) = found.next()? {
            let die = || {
                let unit = finish(self.context.find_dwarf_and_unit(address), debug)?;
                let unit = debug.units().index_of(&unit)?;
                Some(DieId { unit, offset: frame.dw_die_offset? })
            };
            let function = frame.function.map(|name| self.names.function(&name, die, debug));
            frames.push(self.names.frame(function, frame.location.as_ref()));
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.inlined = false;
        }
        Ok(frames)
    }
}

/// Completes a lookup, loading the split files that it needs.
fn finish<'a, L>(mut lookup: LookupResult<L>, debug: &Debug<'a>) -> L::Output
where
    L: LookupContinuation<Buf = Slice<'a>>,
{
    loop {
        match lookup {
            LookupResult::Output(output) => return output,
            LookupResult::Load { load, continuation } => {
                let name = DwoName { id: load.dwo_id, directory: load.comp_dir, path: load.path };
                lookup = continuation.resume(debug.split.load(&name, &load.parent));
            }
        }
    }
}

/// A cache of names: a program has few, and creating them is the most expensive step.
#[derive(Default)]
struct Names<'a> {
    by_linkage: FxHashMap<&'a [u8], Arc<str>>,
    by_die: FxHashMap<(usize, UnitOffset), Arc<str>>,
    files: FxHashSet<Arc<str>>,
}

impl<'a> Names<'a> {
    fn frame(&mut self, function: Option<Arc<str>>, location: Option<&Location<'_>>) -> Frame {
        Frame {
            function,
            file: location.and_then(|location| location.file).map(|file| self.file(file)),
            line: location.and_then(|location| location.line).filter(|line| *line > 0),
            column: location.and_then(|location| location.column).filter(|column| *column > 0),
            inlined: true,
        }
    }

    /// C++ functions with internal linkage, such as those of an anonymous namespace, may have no
    /// linkage name. Then the scopes around the entry qualify it.
    fn function(
        &mut self,
        name: &FunctionName<Slice<'a>>,
        die: impl FnOnce() -> Option<DieId>,
        debug: &Debug<'a>,
    ) -> Arc<str> {
        let raw = name.name.slice();
        let is_mangled = raw.starts_with(b"_Z") || raw.starts_with(b"_R");
        if is_mangled || is_c(name.language) {
            return Arc::clone(self.by_linkage.entry(raw).or_insert_with(|| demangled(raw)));
        }
        let Some(die) = die() else { return demangled(raw) };
        let known = self.by_die.entry((die.unit, die.offset)).or_insert_with(|| {
            name::qualified(debug.units(), die).map_or_else(|| demangled(raw), Arc::from)
        });
        Arc::clone(known)
    }

    fn file(&mut self, file: &str) -> Arc<str> {
        if let Some(seen) = self.files.get(file) {
            return Arc::clone(seen);
        }
        let file: Arc<str> = file.into();
        self.files.insert(Arc::clone(&file));
        file
    }
}

fn demangled(raw: &[u8]) -> Arc<str> {
    let name = String::from_utf8_lossy(raw);
    demangle(&name).map_or_else(|| name.into(), Arc::from)
}

/// Languages without scopes. A skeleton unit of split DWARF does not state its language.
fn is_c(language: Option<gimli::DwLang>) -> bool {
    let c = [
        gimli::DW_LANG_C89,
        gimli::DW_LANG_C,
        gimli::DW_LANG_C99,
        gimli::DW_LANG_C11,
        gimli::DW_LANG_C17,
        gimli::DW_LANG_Mips_Assembler,
    ];
    language.is_some_and(|language| c.contains(&language))
}
