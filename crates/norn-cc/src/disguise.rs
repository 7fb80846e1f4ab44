//! Runs Norn under the names of compilers, for builds that offer no way to choose the compiler.
//!
//! A directory of symbolic links, first on the `PATH`, shadows every compiler that is on it. A
//! build that calls one of these names runs `norn cc` or `norn c++`, which then runs that
//! compiler.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process,
};

use crate::{
    CcError, Language, Settings,
    program::{Found, search},
};

/// The language of the compiler with this name, which may include a target and a version: `g++`,
/// `clang-14`, `x86_64-linux-gnu-gcc-12`. `None` for compilers that target another platform.
pub fn language_of(name: &OsStr) -> Option<Language> {
    let name = name.to_str()?;
    let is_version = |it: &str| it.starts_with(|first: char| first.is_ascii_digit());
    let name = match name.rsplit_once('-') {
        Some((name, version)) if is_version(version) => name,
        _ => name,
    };
    let name = match name.rsplit_once('-') {
        Some((target, name)) if target.starts_with("x86_64-") => name,
        _ => name,
    };
    match name {
        "cc" | "gcc" | "clang" => Some(Language::C),
        "c++" | "g++" | "clang++" => Some(Language::Cxx),
        _ => None,
    }
}

/// Creates a directory in the cache that has a link to Norn for each compiler on the `PATH`. The
/// directory is never removed, because build systems store the path of their compiler.
pub fn disguise(cache: &Path, settings: &Settings) -> Result<PathBuf, CcError> {
    let mut hasher = DefaultHasher::new();
    settings.myself.hash(&mut hasher);
    let folder = cache.join(format!("bin-{:016x}", hasher.finish()));
    let failed = |path: &Path, source| CcError::Install { path: path.to_owned(), source };
    fs::create_dir_all(&folder).map_err(|source| failed(&folder, source))?;
    for name in compilers(settings) {
        let link = folder.join(name);
        point(&link, &settings.myself).map_err(|source| failed(&link, source))?;
    }
    Ok(folder)
}

/// The names of all compilers on the `PATH`.
fn compilers(settings: &Settings) -> BTreeSet<OsString> {
    let folders = env::split_paths(&settings.path).filter_map(|it| fs::read_dir(it).ok());
    let names = folders.flatten().filter_map(|it| Some(it.ok()?.file_name()));
    let is_compiler = |name: &OsString| {
        language_of(name).is_some() && matches!(search(name, settings), Found::Program(_))
    };
    names.filter(is_compiler).collect()
}

/// Makes a link point to `target` atomically, because other processes may be using the link.
fn point(link: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|it| it == target) {
        return Ok(());
    }
    let new = link.with_extension(format!("new-{}", process::id()));
    symlink(target, &new)?;
    fs::rename(&new, link)
}
