//! Debug information in a separate file.
//!
//! Distributions strip their programs and ship the debug information separately. A build id
//! (`ROOT/.build-id/ab/cdef.debug`), or a name and a checksum in the section `.gnu_debuglink`,
//! leads from a module to its debug file. The places and their order are those of gdb. Debug files
//! may in turn share common parts (`dwz`) in a third file, which `.gnu_debugaltlink` names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Object;

use crate::arena::Arena;
use crate::elf::{BuildId, Image};

/// Where separate debug files may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugSearch {
    /// Directories that mirror the file system and hold a `.build-id` directory.
    pub roots: Vec<PathBuf>,
}

impl Default for DebugSearch {
    fn default() -> Self {
        Self { roots: vec![PathBuf::from("/usr/lib/debug")] }
    }
}

/// The debug file of a module that has no debug information of its own.
pub(crate) fn find<'a>(
    module: &Image<'a>,
    path: &Path,
    search: &DebugSearch,
    arena: &'a Arena,
) -> Option<(PathBuf, Image<'a>)> {
    if module.has_section(".debug_info") {
        return None;
    }
    by_build_id(module, search, arena).or_else(|| by_link(module, path, search, arena))
}

/// The file that holds the common parts of several debug files.
pub(crate) fn find_supplementary<'a>(
    debug: &Image<'a>,
    path: &Path,
    search: &DebugSearch,
    arena: &'a Arena,
) -> Option<Image<'a>> {
    let (name, id) = debug.file.gnu_debugaltlink().ok()??;
    let beside = path.parent()?.join(OsStr::from_bytes(name));
    let by_id = search.roots.iter().filter_map(|root| build_id_path(root, id));
    // The file contains only sections and no program, so its ELF type is that of an object file.
    let open = |path: PathBuf| Image::open_object(&path, arena).ok();
    let mut images = [beside].into_iter().chain(by_id).filter_map(open);
    images.find(|image| image.build_id() == Some(id))
}

fn by_build_id<'a>(
    module: &Image<'a>,
    search: &DebugSearch,
    arena: &'a Arena,
) -> Option<(PathBuf, Image<'a>)> {
    let id = module.build_id()?;
    let paths = search.roots.iter().filter_map(|root| build_id_path(root, id));
    let mut images = paths.filter_map(|path| Some((Image::open(&path, arena).ok()?, path)));
    let (image, path) = images.find(|(image, _)| image.build_id() == Some(id))?;
    Some((path, image))
}

fn build_id_path(root: &Path, id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let name = format!("{}.debug", BuildId(rest.to_vec()));
    Some(root.join(".build-id").join(format!("{first:02x}")).join(name))
}

fn by_link<'a>(
    module: &Image<'a>,
    path: &Path,
    search: &DebugSearch,
    arena: &'a Arena,
) -> Option<(PathBuf, Image<'a>)> {
    let (name, checksum) = module.file.gnu_debuglink().ok()??;
    let path = path.canonicalize().ok()?;
    let candidates = link_candidates(&path, OsStr::from_bytes(name), search);
    // The link may carry the module's own name, and would then find the module itself.
    candidates.into_iter().filter(|candidate| *candidate != path).find_map(|candidate| {
        let image = Image::open(&candidate, arena).ok()?;
        belongs(&image, module, checksum).then_some((candidate, image))
    })
}

fn link_candidates(module: &Path, name: &OsStr, search: &DebugSearch) -> Vec<PathBuf> {
    let Some(directory) = module.parent() else { return Vec::new() };
    let mut candidates = vec![directory.join(name), directory.join(".debug").join(name)];
    let inside = directory.strip_prefix("/").unwrap_or(directory);
    candidates.extend(search.roots.iter().map(|root| root.join(inside).join(name)));
    candidates
}

/// Equal build ids spare reading the whole file for its checksum.
fn belongs(candidate: &Image<'_>, module: &Image<'_>, checksum: u32) -> bool {
    match (candidate.build_id(), module.build_id()) {
        (Some(theirs), Some(ours)) => theirs == ours,
        _ => crc32fast::hash(candidate.file.data()) == checksum,
    }
}
