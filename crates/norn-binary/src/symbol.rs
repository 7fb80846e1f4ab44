//! The symbol tables: names of addresses without debug information.
//!
//! `.symtab` and `.dynsym` are merged, including the debug file's `.symtab`. Several symbols may
//! share an address; the most likely source name is kept: global before weak before local, fewer
//! leading underscores first.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use object::elf;
use object::read::elf::{Sym, SymbolTable};
use object::{LittleEndian, Object, ObjectSection, SectionIndex, SectionKind};

use crate::demangle::demangle;
use crate::elf::Image;

/// A named range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The source name.
    pub name: Arc<str>,
    /// The linkage name.
    pub linkage_name: Arc<str>,
    /// Module-relative address, or the offset in the thread-local block.
    pub address: u64,
    /// Size in bytes; zero if the symbol table does not have it.
    pub size: u64,
}

/// All symbols of a module, by kind and sorted by address.
pub(crate) struct Symbols<'a> {
    pub(crate) code: Table<'a>,
    pub(crate) data: Table<'a>,
    pub(crate) tls: Table<'a>,
}

impl<'a> Symbols<'a> {
    /// Reads the tables of the module and of its debug file.
    pub(crate) fn load(image: &Image<'a>, debug: Option<&Image<'a>>) -> Self {
        let mut entries = Vec::new();
        for image in [Some(image), debug].into_iter().flatten() {
            collect(image, image.file.elf_symbol_table(), &mut entries);
            collect(image, image.file.elf_dynamic_symbol_table(), &mut entries);
        }
        let table = |kind| Table::new(entries.iter().filter(|(k, _)| *k == kind).map(|(_, e)| *e));
        Self { code: table(Kind::Code), data: table(Kind::Data), tls: table(Kind::Tls) }
    }
}

/// Symbols of one kind: one per address, ascending.
pub(crate) struct Table<'a> {
    sized: Vec<Entry<'a>>,
    /// Symbols without a size, such as labels in assembly.
    labels: Vec<Entry<'a>>,
}

impl<'a> Table<'a> {
    fn new(entries: impl Iterator<Item = Entry<'a>>) -> Self {
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|a, b| a.key().cmp(&b.key()));
        entries.dedup_by_key(|entry| entry.address);
        let (sized, labels) = entries.into_iter().partition(|entry| entry.size > 0);
        Self { sized, labels }
    }

    /// The symbol that starts exactly here.
    pub(crate) fn at(&self, address: u64) -> Option<Entry<'a>> {
        [&self.sized, &self.labels].into_iter().find_map(|entries| {
            let index = entries.binary_search_by_key(&address, |entry| entry.address).ok()?;
            Some(entries[index])
        })
    }

    /// The symbol whose range covers the address; or else the label before it in the same section,
    /// since assembly code often has no sizes.
    pub(crate) fn covering(&self, address: u64) -> Option<Entry<'a>> {
        [&self.sized, &self.labels].into_iter().find_map(|entries| {
            let after = entries.partition_point(|entry| entry.address <= address);
            let entry = entries.get(after.checked_sub(1)?)?;
            (address - entry.address < entry.reach).then_some(*entry)
        })
    }
}

impl<'a> Table<'a> {
    /// The symbols with a size, by ascending address.
    pub(crate) fn sized(&self) -> &[Entry<'a>] {
        &self.sized
    }

    /// The addresses from the first to the last symbol whose name has this prefix.
    pub(crate) fn range_of(&self, prefix: &str) -> Range<u64> {
        let named = self.sized.iter().filter(|it| it.name.starts_with(prefix));
        let start = named.clone().map(|it| it.address).min().unwrap_or(0);
        start..named.map(|it| it.address + it.size).max().unwrap_or(0)
    }
}

/// One symbol; the name is borrowed from the file.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: &'a str,
    /// The maximum extent: its size, or for a label the rest of its section.
    reach: u64,
    bind: u8,
}

impl Entry<'_> {
    /// The source name.
    pub(crate) fn source_name(&self) -> String {
        demangle(self.name).unwrap_or_else(|| self.name.to_owned())
    }

    /// The public form.
    pub(crate) fn to_symbol(self) -> Symbol {
        Symbol {
            name: self.source_name().into(),
            linkage_name: self.name.into(),
            address: self.address,
            size: self.size,
        }
    }

    /// The sort key of symbols with the same address, best first. The name comes last so that the
    /// choice never depends on the order in the file.
    fn key(&self) -> impl Ord + use<'_> {
        let underscores = self.name.bytes().take_while(|byte| *byte == b'_').count();
        (self.address, self.size == 0, self.bind, underscores, Reverse(self.size), self.name)
    }
}

/// The source name of a linkage name, without parameters.
pub fn source_name(linkage: &str) -> String {
    demangle(linkage).unwrap_or_else(|| linkage.to_owned())
}

/// The name without its version (`environ@@GLIBC_2.2.5`); `None` if it is empty or not text.
pub(crate) fn plain_name(bytes: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(bytes).ok()?;
    let name = name.split('@').next()?;
    (!name.is_empty()).then_some(name)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Data,
    Tls,
}

type FileTable<'a> = SymbolTable<'a, elf::FileHeader64<LittleEndian>>;

fn collect<'a>(image: &Image<'a>, table: &FileTable<'a>, into: &mut Vec<(Kind, Entry<'a>)>) {
    for (index, symbol) in table.enumerate() {
        let section = table.symbol_section(LittleEndian, symbol, index).ok().flatten();
        let name = table.symbol_name(LittleEndian, symbol).ok().and_then(plain_name);
        let (Some(section), Some(name)) = (section, name) else { continue };
        let Some(kind) = kind(image, symbol, section) else { continue };
        let (address, size) = (symbol.st_value(LittleEndian), symbol.st_size(LittleEndian));
        let reach = if size > 0 { size } else { rest_of_section(image, section, address) };
        let bind = bind_rank(symbol.st_bind());
        into.push((kind, Entry { address, size, name, reach, bind }));
    }
}

fn rest_of_section(image: &Image<'_>, section: SectionIndex, address: u64) -> u64 {
    let Ok(section) = image.file.section_by_index(section) else { return 0 };
    section.address().saturating_add(section.size()).saturating_sub(address)
}

/// The kind of a symbol; `None` for files, sections and markers of the linker.
fn kind(
    image: &Image<'_>,
    symbol: &elf::Sym64<LittleEndian>,
    section: SectionIndex,
) -> Option<Kind> {
    let sized = symbol.st_size(LittleEndian) != 0;
    match symbol.st_type() {
        elf::STT_FUNC | elf::STT_GNU_IFUNC => Some(Kind::Code),
        elf::STT_OBJECT | elf::STT_COMMON => sized.then_some(Kind::Data),
        elf::STT_TLS => Some(Kind::Tls),
        // Labels in assembly have no type. In data they would be markers such as `__bss_start`.
        elf::STT_NOTYPE => {
            let code = image.file.section_by_index(section).ok()?.kind() == SectionKind::Text;
            code.then_some(Kind::Code)
        }
        _ => None,
    }
}

fn bind_rank(bind: elf::SymbolBind) -> u8 {
    match bind {
        elf::STB_GLOBAL => 0,
        elf::STB_WEAK => 1,
        _ => 2,
    }
}
