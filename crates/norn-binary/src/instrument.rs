//! Determines whether the code of a module calls the hooks of ThreadSanitizer's instrumentation.
//!
//! A module that was compiled with it but takes the runtime from another module has undefined hook
//! symbols, which is conclusive. A module that *defines* the hooks may be an instrumented
//! executable with the runtime linked in, or the runtime alone: only a call to a hook, from outside
//! the hooks, distinguishes them. So its code is searched for the five bytes of a direct call or
//! jump with a hook as target. That needs no disassembly: random bytes look like a call of one of a
//! hundred hooks about once in five gigabytes.

use std::collections::BTreeMap;

use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, Sym};

use crate::elf::Image;
use crate::symbol::plain_name;

/// The owner of the ELF note in Norn's runtime, which marks the modules it is linked into. The note
/// is in a loaded segment, so stripping an executable keeps it.
pub const RUNTIME_NOTE: &str = "Norn";

/// Whether a module contains instrumented code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrumented {
    /// It calls the hooks.
    Yes,
    /// It does not call them.
    No,
    /// It is stripped and may contain the runtime without symbols.
    Unknown,
}

/// Checks the symbols, the code if the symbols are not conclusive, and the note of the runtime.
pub(crate) fn instrumented(image: &Image<'_>, debug: Option<&Image<'_>>) -> Instrumented {
    let hooks = Hooks::find(image, debug);
    if hooks.imported || hooks.are_called(image) {
        return Instrumented::Yes;
    }
    let symbols_known = [Some(image), debug].into_iter().flatten().any(has_symtab);
    if !hooks.defined.is_empty() || symbols_known || is_library(image) {
        return Instrumented::No;
    }
    // The hooks may be here without names. Only `norn cc` links the runtime, and it always
    // instruments.
    if has_runtime_note(image) { Instrumented::Yes } else { Instrumented::Unknown }
}

pub(crate) fn has_symtab(image: &Image<'_>) -> bool {
    !image.file.elf_symbol_table().is_empty()
}

/// The hooks of a module.
#[derive(Default)]
struct Hooks {
    imported: bool,
    /// By address: the size.
    defined: BTreeMap<u64, u64>,
}

impl Hooks {
    fn find(image: &Image<'_>, debug: Option<&Image<'_>>) -> Self {
        let mut hooks = Self::default();
        for image in [Some(image), debug].into_iter().flatten() {
            for table in [image.file.elf_symbol_table(), image.file.elf_dynamic_symbol_table()] {
                for symbol in table.iter() {
                    let name = table.symbol_name(LittleEndian, symbol).ok().and_then(plain_name);
                    if name.is_some_and(is_hook) {
                        hooks.add(symbol);
                    }
                }
            }
        }
        hooks
    }

    fn add(&mut self, symbol: &elf::Sym64<LittleEndian>) {
        if symbol.is_undefined(LittleEndian) {
            self.imported = true;
        } else {
            self.defined.insert(symbol.st_value(LittleEndian), symbol.st_size(LittleEndian));
        }
    }

    fn are_called(&self, image: &Image<'_>) -> bool {
        !self.defined.is_empty()
            && image.file.elf_header().e_machine(LittleEndian) == elf::EM_X86_64
            && image.code().any(|(address, code)| self.are_called_from(address, code))
    }

    fn are_called_from(&self, address: u64, code: &[u8]) -> bool {
        const CALL: u8 = 0xe8;
        const JUMP: u8 = 0xe9;
        code.windows(5).zip(0_u64..).any(|(bytes, offset)| match *bytes {
            [CALL | JUMP, a, b, c, d] => {
                let distance = i64::from(i32::from_le_bytes([a, b, c, d]));
                let here = address.wrapping_add(offset);
                let target = here.wrapping_add(5).wrapping_add_signed(distance);
                self.defined.contains_key(&target) && !self.contain(here)
            }
            _ => false,
        })
    }

    /// Whether the address lies in one of the hooks.
    fn contain(&self, address: u64) -> bool {
        let before = self.defined.range(..=address).next_back();
        before.is_some_and(|(start, size)| address - start < *size)
    }
}

/// The hooks that compilers call from ordinary code. Others, such as `__tsan_mutex_pre_lock`, are
/// called by hand-annotated programs that need not be instrumented.
fn is_hook(name: &str) -> bool {
    let Some(hook) = name.strip_prefix("__tsan_") else { return false };
    let accesses = ["read", "write", "unaligned_", "volatile_", "vptr_", "atomic", "func_"];
    accesses.iter().any(|prefix| hook.starts_with(prefix))
}

/// A shared library imports the hooks from the executable, so its dynamic symbols contain them. A
/// position-independent executable looks the same, but has no `DT_SONAME`; and a library without
/// one has neither an interpreter nor the executable's flag.
fn is_library(image: &Image<'_>) -> bool {
    let dynamic = image.file.elf_header().e_type(LittleEndian) == elf::ET_DYN;
    let mut headers = image.file.elf_program_headers().iter();
    let interpreted = headers.any(|header| header.p_type(LittleEndian) == elf::PT_INTERP);
    let executable = interpreted || has_dynamic(image, elf::DT_FLAGS_1, elf::DF_1_PIE.0);
    dynamic && (!executable || has_dynamic(image, elf::DT_SONAME, u64::MAX))
}

/// Whether the dynamic section has an entry with this tag and any bit of the mask.
fn has_dynamic(image: &Image<'_>, tag: elf::DynamicTag, mask: u64) -> bool {
    let Ok(table) = image.file.elf_dynamic_table() else { return false };
    table.iter().any(|entry| entry.tag == tag && entry.val & mask != 0)
}

fn has_runtime_note(image: &Image<'_>) -> bool {
    let data = image.file.data();
    image.file.elf_program_headers().iter().any(|header| {
        let Ok(Some(mut notes)) = header.notes(LittleEndian, data) else { return false };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == RUNTIME_NOTE.as_bytes() {
                return true;
            }
        }
        false
    })
}
