//! Functions whose calls can be recorded: those with padding that `norn cc` reserves at their
//! entry, and those that a module imports.

use std::collections::BTreeSet;

use norn_model::FunctionPattern;
use object::elf;
use object::read::elf::ProgramHeader;
use object::{LittleEndian, Object, ObjectSymbol, RelocationFlags, RelocationTarget};

use crate::demangle;
use crate::elf::Image;
use crate::room::Rooms;
use crate::symbol::{plain_name, source_name};

/// A function with padding at its entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its module-relative address.
    pub address: u64,
    /// Its linkage name without the suffixes that compilers append.
    pub linkage_name: String,
}

/// A function of another module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The module-relative address of its GOT entry.
    pub address: u64,
    /// Its linkage name.
    pub linkage_name: String,
    /// Whether the GOT entry is read-only at run time (`PT_GNU_RELRO`).
    pub protected: bool,
}

/// Whether a pattern matches the function with this linkage name: by its source name, or by the
/// linkage name itself.
pub fn is_named(pattern: &FunctionPattern, linkage: &str) -> bool {
    pattern.as_str() == linkage
        || pattern.matches(&source_name(linkage))
        || pattern.has_parameters() && pattern.matches(&full_name(linkage))
}

/// The source name of a function, with its parameters if the linkage name contains them.
fn full_name(linkage: &str) -> String {
    demangle::with_parameters(linkage).unwrap_or_else(|| source_name(linkage))
}

/// The name under which calls of a function are recorded. The patterns that selected the function
/// match it: its source name, with parameters only if a pattern selects an overload, and its
/// linkage name only if no pattern matches the source name.
pub fn recorded_name(patterns: &[&FunctionPattern], linkage: &str) -> String {
    let short = source_name(linkage);
    if patterns.iter().all(|it| it.matches(&short)) {
        return short;
    }
    let full = full_name(linkage);
    if patterns.iter().any(|it| it.matches(&full)) { full } else { linkage.to_owned() }
}

/// The functions with `before` bytes of padding before them, by ascending address; a function with
/// several names has several entries.
pub(crate) fn entries(image: &Image<'_>, debug: Option<&Image<'_>>, before: u64) -> Vec<Entry> {
    let rooms = Rooms::new(image);
    let mut all = functions(image, debug);
    all.retain(|it| rooms.is_before(it.address, before));
    all
}

/// All functions with symbols, by ascending address, with or without padding.
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

/// Compilers append suffixes to the names of function clones: `f.constprop.0`. Parts of functions
/// (`.cold`, `.part`) are not functions.
fn whole_function(name: &str) -> Option<&str> {
    let mut words = name.split('.');
    let first = words.next().filter(|it| !it.is_empty())?;
    words.all(|it| it != "cold" && it != "part").then_some(first)
}

/// The functions that the module imports, or that other modules may interpose, by ascending
/// address.
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
        // An undefined symbol has a type only if the linker saw its definition.
        let data = symbol.kind() == object::SymbolKind::Data;
        let name = symbol.name_bytes().ok().and_then(plain_name);
        if let Some(name) = name.filter(|_| !data) {
            let protected = protected.iter().any(|it| it.contains(&address));
            imports.insert(Import { address, linkage_name: name.to_owned(), protected });
        }
    }
    imports.into_iter().collect()
}

/// The ranges that the loader makes read-only after relocation. Protection works on whole pages,
/// so a last page that is only partly in the range stays writable.
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
        let check = |pattern: &str, name: &str| is_named(&FunctionPattern::new(pattern), name);
        assert!(check("plain", "plain"));
        assert!(check("bank::Account::deposit", "_ZN4bank7Account7depositEi"));
        assert!(check("bank::Account::deposit(int)", "_ZN4bank7Account7depositEi"));
        assert!(!check("bank::Account::deposit(long)", "_ZN4bank7Account7depositEi"));
        assert!(check("_ZN4bank7Account7depositEi", "_ZN4bank7Account7depositEi"));
        assert!(check("std::function<void (int)>::operator()", "_ZNKSt8functionIFviEEclEi"));
        assert!(check("std::function<void(int)>::operator()", "_ZNKSt8functionIFviEEclEi"));
        assert!(check("M<int,long>::insert", "_ZN1MIilE6insertEil"));
        assert!(check("M<int, long>::insert", "_ZN1MIilE6insertEil"));
        assert!(check("M<int,long>::insert(int,long)", "_ZN1MIilE6insertEil"));
        assert!(!check("M<int,int>::insert", "_ZN1MIilE6insertEil"));
    }

    #[test]
    fn every_pattern_that_selects_a_function_matches_its_recorded_name() {
        let linkage = "_ZN1MIilE6insertEil";
        let recorded = |patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|it| FunctionPattern::new(it)).collect();
            assert!(patterns.iter().all(|it| is_named(it, linkage)));
            let name = recorded_name(&patterns.iter().collect::<Vec<_>>(), linkage);
            assert!(patterns.iter().all(|it| it.matches(&name)), "{name}");
            name
        };
        assert_eq!(recorded(&["M<int,long>::insert"]), "M<int, long>::insert");
        let overload = "M<int,long>::insert(int,long)";
        assert_eq!(recorded(&["M<*>::insert", overload]), "M<int, long>::insert(int, long)");
        assert_eq!(recorded(&[linkage]), linkage);
    }

    #[test]
    fn endings() {
        assert_eq!(whole_function("f.constprop.0"), Some("f"));
        assert_eq!(whole_function("f.isra.0.cold"), None);
        assert_eq!(whole_function("f.part.0"), None);
        assert_eq!(whole_function("f"), Some("f"));
    }
}
