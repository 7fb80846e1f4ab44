//! One ELF file: which kinds are accepted, its segments, its sections, its identity.
//!
//! Only 64-bit little-endian files are supported, because no other file can be a subject. A section
//! that is missing, out of bounds or badly compressed is treated as empty: damage only reduces the
//! available information.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{CompressionFormat, LittleEndian, Object, ObjectSection, ObjectSegment, ObjectSymbol};

use crate::arena::Arena;
use crate::error::BinaryError;

/// The identity that the linker gave to a build, shown in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(pub Vec<u8>);

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A part of the file that the loader maps (`PT_LOAD`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Module-relative address of the first byte.
    pub address: u64,
    /// Size in memory; the part beyond `file_size` is zero-filled.
    pub memory_size: u64,
    /// Offset of the segment in the file.
    pub file_offset: u64,
    /// Size in the file.
    pub file_size: u64,
    /// Mapped readable.
    pub readable: bool,
    /// Mapped writable.
    pub writable: bool,
    /// Mapped executable.
    pub executable: bool,
}

impl Segment {
    /// Whether the segment covers this module-relative address.
    pub fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < self.memory_size)
    }
}

/// The template of the module's thread-local storage block (`PT_TLS`).
///
/// On x86-64 the block of the executable ends at the thread pointer, so it starts at the thread
/// pointer minus `memory_size` rounded up to `alignment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsSegment {
    /// Module-relative address of the template.
    pub address: u64,
    /// Size of the block in every thread.
    pub memory_size: u64,
    /// Alignment of the block.
    pub alignment: u64,
}

/// A parsed ELF file, borrowed from the arena.
pub(crate) struct Image<'a> {
    pub(crate) file: ElfFile64<'a, LittleEndian>,
}

impl<'a> Image<'a> {
    /// Maps and parses an executable, a shared library or a debug file of one.
    pub(crate) fn open(path: &Path, arena: &'a Arena) -> Result<Self, BinaryError> {
        let image = Self::open_object(path, arena)?;
        let found = match image.file.elf_header().e_type(LittleEndian) {
            elf::ET_EXEC | elf::ET_DYN => return Ok(image),
            elf::ET_REL => "an object file",
            elf::ET_CORE => "a core dump",
            _ => "an ELF file of an unknown type",
        };
        Err(BinaryError::Unsupported { path: path.to_path_buf(), found })
    }

    /// Maps and parses an ELF file of any type, such as a `.dwo`, which is an object file.
    pub(crate) fn open_object(path: &Path, arena: &'a Arena) -> Result<Self, BinaryError> {
        let owned = || path.to_path_buf();
        let data = arena.map(path).map_err(|source| BinaryError::Open { path: owned(), source })?;
        if !data.starts_with(&elf::ELFMAG) {
            return Err(BinaryError::NotElf { path: owned() });
        }
        if let Some(found) = unsupported(data) {
            return Err(BinaryError::Unsupported { path: owned(), found });
        }
        let file = ElfFile64::parse(data)
            .map_err(|source| BinaryError::Damaged { path: owned(), source })?;
        Ok(Self { file })
    }

    pub(crate) fn build_id(&self) -> Option<&'a [u8]> {
        self.file.build_id().ok().flatten().filter(|id| !id.is_empty())
    }

    pub(crate) fn segments(&self) -> Vec<Segment> {
        let headers = self.file.elf_program_headers().iter();
        headers.filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD).map(segment).collect()
    }

    pub(crate) fn tls(&self) -> Option<TlsSegment> {
        let mut headers = self.file.elf_program_headers().iter();
        let header = headers.find(|header| header.p_type(LittleEndian) == elf::PT_TLS)?;
        Some(TlsSegment {
            address: header.p_vaddr(LittleEndian),
            memory_size: header.p_memsz(LittleEndian),
            alignment: header.p_align(LittleEndian),
        })
    }

    /// The value of a constant of 4 bytes that the file exports.
    pub(crate) fn constant(&self, name: &str) -> Option<u32> {
        let mut symbols = self.file.dynamic_symbols();
        let symbol = symbols.find(|it| it.name_bytes() == Ok(name.as_bytes()))?;
        let mut segments = self.file.segments();
        let bytes = segments.find_map(|it| it.data_range(symbol.address(), 4).ok().flatten())?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The bytes of the executable segments, each with its address.
    pub(crate) fn code(&self) -> impl Iterator<Item = (u64, &'a [u8])> {
        let headers = self.file.elf_program_headers().iter();
        let code = headers.filter(|header| {
            header.p_type(LittleEndian) == elf::PT_LOAD
                && header.p_flags(LittleEndian).contains(elf::PF_X)
        });
        let data = self.file.data();
        code.filter_map(move |header| {
            Some((header.p_vaddr(LittleEndian), header.data(LittleEndian, data).ok()?))
        })
    }

    /// Whether the file has this section with bytes in it.
    pub(crate) fn has_section(&self, name: &str) -> bool {
        let section = self.file.section_by_name(name);
        section.is_some_and(|section| section.file_range().is_some_and(|(_, size)| size > 0))
    }

    /// The section's bytes, decompressed if necessary; empty if it is missing or damaged.
    pub(crate) fn section(&self, name: &str, arena: &'a Arena) -> &'a [u8] {
        let bytes = self.file.section_by_name(name).and_then(|section| decompressed(&section));
        match bytes {
            Some(Cow::Borrowed(bytes)) => bytes,
            Some(Cow::Owned(bytes)) => arena.adopt(bytes),
            None => &[],
        }
    }
}

/// A description of the file, if its word size or byte order is not supported.
fn unsupported(data: &[u8]) -> Option<&'static str> {
    match (data.get(4)?, data.get(5)?) {
        (class, _) if *class == elf::ELFCLASS32.0 => Some("a 32-bit file"),
        (_, order) if *order == elf::ELFDATA2MSB.0 => Some("a big-endian file"),
        _ => None,
    }
}

fn segment(header: &elf::ProgramHeader64<LittleEndian>) -> Segment {
    let flags = header.p_flags(LittleEndian);
    Segment {
        address: header.p_vaddr(LittleEndian),
        memory_size: header.p_memsz(LittleEndian),
        file_offset: header.p_offset(LittleEndian),
        file_size: header.p_filesz(LittleEndian),
        readable: flags.contains(elf::PF_R),
        writable: flags.contains(elf::PF_W),
        executable: flags.contains(elf::PF_X),
    }
}

/// No real debug section shrinks by more, and zlib cannot do better: a header that claims more is
/// damaged, and trusting it would allocate gigabytes.
const MAX_COMPRESSION_RATIO: u64 = 1100;

fn decompressed<'a>(section: &impl ObjectSection<'a>) -> Option<Cow<'a, [u8]>> {
    let data = section.compressed_data().ok()?;
    let limit = (data.data.len() as u64).saturating_mul(MAX_COMPRESSION_RATIO);
    if data.format != CompressionFormat::None && data.uncompressed_size > limit {
        return None;
    }
    data.decompress().ok()
}
