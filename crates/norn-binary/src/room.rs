//! Finds the padding that `norn cc` reserves for patching: before a function and at its entry.
//!
//! Compilers list these locations. Not all linkers accept the list that gcc writes, so `norn cc`
//! suppresses it there; then the padding is recognised by its bytes.

use std::collections::BTreeSet;

use object::elf;
use object::{Object, ObjectSection, RelocationFlags, SectionKind};

use crate::elf::Image;

/// The section in which compilers list the functions with padding.
const LIST: &str = "__patchable_function_entries";
/// The padding byte of gcc. Between functions, assemblers use longer instructions.
const FILLER: u8 = 0x90;
/// The padding of LLVM inside a function: one instruction. Linkers may leave out the list of a Rust program.
const LONG_FILLER: [u8; INSIDE] = [0x66, 0x90];
/// Number of padding bytes inside the function.
const INSIDE: usize = 2;
/// The first instruction of functions that may be the target of an indirect jump, `endbr64`.
const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The padding of all functions of a module.
pub(crate) struct Rooms<'a> {
    listed: BTreeSet<u64>,
    code: Vec<(u64, &'a [u8])>,
}

impl<'a> Rooms<'a> {
    pub(crate) fn new(image: &Image<'a>) -> Rooms<'a> {
        Rooms { listed: listed(image), code: code(image) }
    }

    /// Whether the function at an address has `before` bytes of padding before it, and some inside.
    pub(crate) fn is_before(&self, address: u64, before: u64) -> bool {
        self.listed.contains(&address.wrapping_sub(before)) || self.is_filled(address, before)
    }

    fn is_filled(&self, address: u64, before: u64) -> bool {
        let parts = self.code.iter().filter_map(|&(start, bytes)| {
            let at = usize::try_from(address.checked_sub(start)?).ok()?;
            let outside = bytes.get(at.checked_sub(usize::try_from(before).ok()?)?..at)?;
            let inside = bytes.get(at..)?;
            Some((outside, inside.strip_prefix(&LANDING).unwrap_or(inside).get(..INSIDE)?))
        });
        parts.into_iter().any(|(outside, inside)| {
            let is_filler = |&byte: &u8| byte == FILLER;
            outside.iter().all(is_filler) && (inside.iter().all(is_filler) || inside == LONG_FILLER)
        })
    }
}

/// Whether the module was built with `before` bytes of padding before its functions.
pub(crate) fn is_there(image: &Image<'_>, before: usize) -> bool {
    let filled = |bytes: &[u8]| {
        bytes.chunk_by(|left, right| left == right).any(|it| it[0] == FILLER && it.len() >= before)
    };
    image.file.section_by_name(LIST).is_some_and(|it| it.size() > 0)
        || code(image).iter().any(|(_, bytes)| filled(bytes))
}

fn code<'a>(image: &Image<'a>) -> Vec<(u64, &'a [u8])> {
    let sections = image.file.sections().filter(|it| it.kind() == SectionKind::Text);
    sections.filter_map(|it| Some((it.address(), it.data().ok()?))).collect()
}

/// The address of the padding of each listed function.
fn listed(image: &Image<'_>) -> BTreeSet<u64> {
    let Some(section) = image.file.section_by_name(LIST) else { return BTreeSet::new() };
    let words = section.data().unwrap_or(&[]).chunks_exact(8);
    let words = words.filter_map(|it| it.try_into().ok().map(u64::from_le_bytes));
    let mut starts: BTreeSet<u64> = words.filter(|&it| it != 0).collect();
    let range = section.address()..section.address().saturating_add(section.size());
    for (address, relocation) in image.file.dynamic_relocations().into_iter().flatten() {
        let relative =
            relocation.flags() == RelocationFlags::Elf { r_type: elf::R_X86_64_RELATIVE };
        if relative && range.contains(&address) {
            starts.insert(relocation.addend().cast_unsigned());
        }
    }
    starts
}
