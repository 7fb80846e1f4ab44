//! The DWARF sections of a module, from the module itself, its debug file, a supplementary file, or
//! split files that are loaded on demand.

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use gimli::{AbbreviationsCacheStrategy, EndianSlice, LittleEndian, SectionId};

use crate::arena::Arena;
use crate::debug_file::{self, DebugSearch};
use crate::elf::Image;
use crate::split::Split;
use crate::unit::Units;

/// Bytes of a section, read as DWARF.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
/// The sections of one file.
pub(crate) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;

/// All DWARF data of a module.
pub(crate) struct Debug<'a> {
    pub(crate) sections: Arc<Dwarf<'a>>,
    pub(crate) split: Split<'a>,
    units: OnceLock<Units<'a>>,
}

impl<'a> Debug<'a> {
    /// Loads the sections of `image`, which is at `path` and is the module or its debug file. Split
    /// files belong to the module.
    pub(crate) fn load(
        image: &Image<'a>,
        path: &Path,
        module: &Path,
        search: &DebugSearch,
        arena: &'a Arena,
    ) -> Self {
        let mut sections = load_sections(image, arena, |id| Some(id.name()));
        if let Some(supplementary) = debug_file::find_supplementary(image, path, search, arena) {
            sections.set_sup(load_sections(&supplementary, arena, |id| Some(id.name())));
        }
        sections.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let split = Split::new(module, arena);
        Self { sections: Arc::new(sections), split, units: OnceLock::new() }
    }

    /// All units, read on first use.
    pub(crate) fn units(&self) -> &Units<'a> {
        self.units.get_or_init(|| Units::load(&self.sections, &self.split))
    }
}

/// Loads sections under the names that `name` gives them.
pub(crate) fn load_sections<'a>(
    image: &Image<'a>,
    arena: &'a Arena,
    name: impl Fn(SectionId) -> Option<&'static str>,
) -> Dwarf<'a> {
    let Ok(dwarf) = Dwarf::load(|id| Ok::<_, Infallible>(section(image, arena, name(id))));
    dwarf
}

/// One section, empty if it has no name here or no bytes.
pub(crate) fn section<'a>(
    image: &Image<'a>,
    arena: &'a Arena,
    name: Option<&'static str>,
) -> Slice<'a> {
    Slice::new(name.map_or(&[], |name| image.section(name, arena)), LittleEndian)
}
