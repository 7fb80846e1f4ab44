//! Functions whose calls can be seen: those with room at their beginning, which `norn cc` leaves,
//! and those that a module takes from others.

use std::collections::BTreeSet;

use norn_model::NamePattern;
use object::elf;
use object::read::elf::ProgramHeader;
use object::{LittleEndian, Object, ObjectSymbol, RelocationFlags, RelocationTarget};

use crate::demangle;
use crate::elf::Image;
use crate::room::Rooms;
use crate::symbol::{plain_name, source_name};

/// A function with room at its beginning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Where it begins, module-relative.
    pub address: u64,
    /// Its name as the linker knows it, without what compilers append.
    pub linkage_name: String,
}

/// A function of another module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// Where the module has its address, module-relative.
    pub address: u64,
    /// Its name as the linker knows it.
    pub linkage_name: String,
    /// Whether the place is protected from writing once the program runs.
    pub protected: bool,
}

/// Whether a pattern stands for the function that the linker knows by this name.
pub fn is_named(pattern: &NamePattern, linkage: &str) -> bool {
    let plain = source_name(linkage);
    pattern.matches(&plain)
        || pattern.text() == linkage
        || pattern.has_parameters()
            && demangle::with_parameters(linkage).is_some_and(|it| pattern.matches_whole(&it))
}

/// The functions with room of `before` bytes before them, by rising address; one that has several
/// names is there several times.
pub(crate) fn entries(image: &Image<'_>, debug: Option<&Image<'_>>, before: u64) -> Vec<Entry> {
    let rooms = Rooms::new(image);
    let mut all = functions(image, debug);
    all.retain(|it| rooms.is_before(it.address, before));
    all
}

/// All functions that the module has symbols for, by rising address; whether or not they have room.
pub(crate) fn functions(image: &Image<'_>, debug: Option<&Image<'_>>) -> Vec<Entry> {
    let mut entries = BTreeSet::new();
    for image in [Some(image), debug].into_iter().flatten() {
        for symbol in image.file.symbols().chain(image.file.dynamic_symbols()) {
            let address = symbol.address();
            let function = symbol.kind() == object::SymbolKind::Text && symbol.is_definition();
            if !function {
                continue;
            }
            let name = symbol.name_bytes().ok().and_then(plain_name).and_then(whole_function);
            if let Some(name) = name {
                entries.insert(Entry { address, linkage_name: name.to_owned() });
            }
        }
    }
    entries.into_iter().collect()
}

/// What compilers make of a function may have an ending: `f.constprop.0`. Parts of functions are
/// not functions.
fn whole_function(name: &str) -> Option<&str> {
    let mut words = name.split('.');
    let first = words.next().filter(|it| !it.is_empty())?;
    words.all(|it| it != "cold" && it != "part").then_some(first)
}

/// The functions that the module takes from others, or that others may replace, by rising address.
pub(crate) fn imports(image: &Image<'_>) -> Vec<Import> {
    let mut imports = BTreeSet::new();
    let protected = protected(image);
    for (address, relocation) in image.file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        if r_type != elf::R_X86_64_JUMP_SLOT && r_type != elf::R_X86_64_GLOB_DAT {
            continue;
        }
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let Some(table) = image.file.dynamic_symbol_table() else { continue };
        let Ok(symbol) = object::ObjectSymbolTable::symbol_by_index(&table, index) else {
            continue;
        };
        // What is not yet defined has a type only if somebody had it at hand.
        let data = symbol.kind() == object::SymbolKind::Data;
        let name = symbol.name_bytes().ok().and_then(plain_name);
        if let Some(name) = name.filter(|_| !data) {
            let protected = protected.iter().any(|it| it.contains(&address));
            imports.insert(Import { address, linkage_name: name.to_owned(), protected });
        }
    }
    imports.into_iter().collect()
}

/// What the loader protects from writing after it has filled it in. Whole pages: what shares the
/// last one is not.
fn protected(image: &Image<'_>) -> Vec<std::ops::Range<u64>> {
    const PAGE: u64 = 4096;
    let headers = image.file.elf_program_headers().iter();
    let headers = headers.filter(|it| it.p_type(LittleEndian) == elf::PT_GNU_RELRO);
    headers
        .map(|it| {
            let start = it.p_vaddr(LittleEndian);
            start & !(PAGE - 1)..start.saturating_add(it.p_memsz(LittleEndian)) & !(PAGE - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkage_names() {
        let check = |pattern: &str, name: &str| is_named(&NamePattern::new(pattern), name);
        assert!(check("plain", "plain"));
        assert!(check("bank::Account::deposit", "_ZN4bank7Account7depositEi"));
        assert!(check("bank::Account::deposit(int)", "_ZN4bank7Account7depositEi"));
        assert!(!check("bank::Account::deposit(long)", "_ZN4bank7Account7depositEi"));
        assert!(check("_ZN4bank7Account7depositEi", "_ZN4bank7Account7depositEi"));
        assert!(check("std::function<void (int)>::operator()", "_ZNKSt8functionIFviEEclEi"));
    }

    #[test]
    fn endings() {
        assert_eq!(whole_function("f.constprop.0"), Some("f"));
        assert_eq!(whole_function("f.isra.0.cold"), None);
        assert_eq!(whole_function("f.part.0"), None);
        assert_eq!(whole_function("f"), Some("f"));
    }
}
