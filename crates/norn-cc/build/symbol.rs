//! Decides which symbols of the runtime are visible to a program.
//!
//! The global symbols of an object are visible to the whole program. The hooks and the functions
//! that intercept libc's must be global, and everything else must not: a `memcpy` that came with a
//! helper would replace libc's, and the helper itself would collide with libgcc's.
//!
//! In the static flavour libc's functions are called `__real_…`. The linker resolves that prefix
//! only for functions that have a `__wrap_…`, so the others get back their name in libc.

use std::{collections::BTreeSet, error::Error};

use object::{
    build::elf::{Builder, Symbol},
    elf,
};

/// An object in which only the symbols for programs are global.
#[derive(Debug)]
pub(crate) struct Tidied {
    /// The bytes of the object.
    pub(crate) object: Vec<u8>,
    /// The symbols that the program sees, sorted.
    pub(crate) exported: Vec<String>,
}

/// Makes all symbols local that programs must not see.
pub(crate) fn tidy(data: &[u8]) -> Result<Tidied, Box<dyn Error>> {
    let mut builder = Builder::read(data)?;
    let mut exported = BTreeSet::new();
    for symbol in global(&mut builder).filter(|symbol| !is_undefined(symbol)) {
        let name = symbol.name.to_string();
        if is_for_programs(symbol, &name) {
            exported.insert(name);
        } else {
            symbol.set_st_info(elf::STB_LOCAL, symbol.st_type());
        }
    }
    for symbol in global(&mut builder).filter(|symbol| is_undefined(symbol)) {
        symbol.name = name_in_libc(symbol.name.to_string(), &exported)?.into_bytes().into();
    }
    let mut object = Vec::new();
    builder.write(&mut object)?;
    Ok(Tidied { object, exported: exported.into_iter().collect() })
}

fn global<'a, 'data>(
    builder: &'a mut Builder<'data>,
) -> impl Iterator<Item = &'a mut Symbol<'data>> {
    builder.symbols.iter_mut().filter(|symbol| symbol.st_bind() != elf::STB_LOCAL)
}

fn is_undefined(symbol: &Symbol<'_>) -> bool {
    symbol.section.is_none() && symbol.st_shndx == elf::SHN_UNDEF
}

/// Programs call functions of the runtime and share no data with it. Rust's built-in functions
/// have hidden visibility.
fn is_for_programs(symbol: &Symbol<'_>, name: &str) -> bool {
    let is_data = [elf::STT_OBJECT, elf::STT_TLS].contains(&symbol.st_type());
    !is_data && symbol.st_other.visibility() == elf::STV_DEFAULT && !is_rust(name)
}

/// Names in C++'s namespace `std` begin with `_ZNSt`; in Rust's names a length follows `_ZN`.
fn is_rust(name: &str) -> bool {
    let mangled = name.starts_with("_ZN") && !name.starts_with("_ZNSt");
    mangled || name.starts_with("_R") || name.starts_with("rust_")
}

/// The name that a linker can resolve. A call into Rust's own library is an error here; otherwise
/// it would break the link of every user's program.
fn name_in_libc(name: String, exported: &BTreeSet<String>) -> Result<String, Box<dyn Error>> {
    if is_rust(&name) {
        return Err(format!("the runtime needs {name}, which no C library has").into());
    }
    match name.strip_prefix("__real_") {
        Some(libc) if !exported.contains(&format!("__wrap_{libc}")) => Ok(libc.to_owned()),
        _ => Ok(name),
    }
}
