//! Split DWARF (`-gsplit-dwarf`): most of a unit is in a `.dwo` file beside the object file, or in a
//! `.dwp` package beside the module.
//!
//! Only the compile directory and a name lead to a `.dwo`, so it is not found for a module that was
//! built elsewhere. Then the skeleton unit still gives lines, and symbols give functions.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{DwarfPackage, DwoId, LittleEndian, SectionId};
use rustc_hash::FxHashMap;

use crate::arena::Arena;
use crate::dwarf::{Dwarf, Slice, load_sections, section};
use crate::elf::Image;

/// The split files of a module, each loaded at most once and shared.
pub(crate) struct Split<'a> {
    module: PathBuf,
    arena: &'a Arena,
    package: OnceLock<Option<DwarfPackage<Slice<'a>>>>,
    loaded: Mutex<FxHashMap<DwoId, Option<Arc<Dwarf<'a>>>>>,
}

/// The reference of a skeleton unit to its split file.
pub(crate) struct DwoName<'a> {
    pub(crate) id: DwoId,
    pub(crate) directory: Option<Slice<'a>>,
    pub(crate) path: Option<Slice<'a>>,
}

impl<'a> Split<'a> {
    /// For the module at this path.
    pub(crate) fn new(module: &Path, arena: &'a Arena) -> Self {
        let module = module.to_path_buf();
        Self { module, arena, package: OnceLock::new(), loaded: Mutex::default() }
    }

    /// The sections that belong to a skeleton unit of `parent`.
    pub(crate) fn load(&self, name: &DwoName<'a>, parent: &Dwarf<'a>) -> Option<Arc<Dwarf<'a>>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let found = loaded.entry(name.id).or_insert_with(|| {
            let dwarf = self.find_in_package(name.id, parent);
            dwarf.or_else(|| self.find_file(name, parent)).map(Arc::new)
        });
        found.clone()
    }

    fn find_in_package(&self, id: DwoId, parent: &Dwarf<'a>) -> Option<Dwarf<'a>> {
        let package = self.package.get_or_init(|| self.open_package()).as_ref()?;
        package.find_cu(id, parent).ok().flatten()
    }

    fn open_package(&self) -> Option<DwarfPackage<Slice<'a>>> {
        let mut path = self.module.clone().into_os_string();
        path.push(".dwp");
        let image = Image::open_object(Path::new(&path), self.arena).ok()?;
        let load =
            |id: SectionId| Ok::<_, gimli::Error>(section(&image, self.arena, id.dwo_name()));
        DwarfPackage::load(load, Slice::new(&[], LittleEndian)).ok()
    }

    fn find_file(&self, name: &DwoName<'a>, parent: &Dwarf<'a>) -> Option<Dwarf<'a>> {
        let path = Path::new(OsStr::from_bytes(name.path?.slice()));
        let directory = name.directory.map_or(&[][..], |directory| directory.slice());
        let beside = self.module.parent()?.join(path.file_name()?);
        let recorded = Path::new(OsStr::from_bytes(directory)).join(path);
        [recorded, beside].iter().find_map(|path| self.open_unit(path, name.id, parent))
    }

    fn open_unit(&self, path: &Path, id: DwoId, parent: &Dwarf<'a>) -> Option<Dwarf<'a>> {
        let image = Image::open_object(path, self.arena).ok()?;
        let mut dwarf = load_sections(&image, self.arena, SectionId::dwo_name);
        let header = dwarf.units().next().ok()??;
        if dwarf.unit(header).ok()?.dwo_id != Some(id) {
            return None;
        }
        dwarf.make_dwo(parent);
        Some(dwarf)
    }
}
