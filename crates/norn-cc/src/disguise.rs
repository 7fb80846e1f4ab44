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
    path::{self, Path, PathBuf},
    process,
};

use crate::{
    CcError, Language, RuntimeImage, Settings,
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
    let folder = folder(cache, settings)?;
    for name in compilers(settings) {
        link(&folder.join(name), settings)?;
    }
    Ok(folder)
}

/// A program that behaves like `norn cc` or `norn c++`, for tools that take the path of a compiler
/// and no arguments with it. It is a link to Norn in the cache.
pub fn compiler_link(
    cache: &Path,
    settings: &Settings,
    language: Language,
) -> Result<PathBuf, CcError> {
    let name = match language {
        Language::C => "norn-cc",
        Language::Cxx => "norn-c++",
    };
    let path = folder(cache, settings)?.join(name);
    link(&path, settings)?;
    Ok(path)
}

/// The directory of the links to this program, which is created if it does not exist. Build systems keep what
/// they built while the path of the compiler stays the same, so another runtime has another directory.
fn folder(cache: &Path, settings: &Settings) -> Result<PathBuf, CcError> {
    let mut hasher = DefaultHasher::new();
    settings.myself.hash(&mut hasher);
    RuntimeImage::embedded().id.hash(&mut hasher);
    let name = format!("bin-{:016x}", hasher.finish());
    let made = path::absolute(cache.join(name)).and_then(|folder| {
        fs::create_dir_all(&folder)?;
        Ok(folder)
    });
    made.map_err(|source| CcError::Install { path: cache.to_owned(), source })
}

fn link(path: &Path, settings: &Settings) -> Result<(), CcError> {
    let failed = |source| CcError::Install { path: path.to_owned(), source };
    point(path, &settings.myself).map_err(failed)
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
