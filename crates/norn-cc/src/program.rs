//! Finds programs on the `PATH` as a shell does, with two exceptions.
//!
//! A directory early in the `PATH` may hold links named `cc` or `gcc` that lead to Norn. The
//! search skips them, otherwise Norn would run itself forever. For the same reason the search
//! skips the links of ccache and similar launchers: they look for the *next* `gcc` on the `PATH`,
//! which may be Norn again. A user who wants a launcher names it: `NORN_CC="ccache gcc"`. That is
//! also the better order: with `CC="ccache norn cc"` ccache takes Norn for the compiler and does
//! not notice when the real compiler changes.

use std::{
    env,
    ffi::OsStr,
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::Settings;

/// Programs that run the compiler given as their first argument.
const LAUNCHERS: [&str; 5] = ["ccache", "sccache", "distcc", "icecc", "buildcache"];

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The program's path.
    Program(PathBuf),
    /// The only programs with this name are Norn itself.
    Itself(PathBuf),
    /// There is no program with this name.
    Nothing,
}

/// Finds the program that a word denotes: a path, or a name on the `PATH`.
pub(crate) fn search(word: &OsStr, settings: &Settings) -> Found {
    if word.as_encoded_bytes().contains(&b'/') {
        return judge(Path::new(word), settings);
    }
    let mut result = Found::Nothing;
    for directory in env::split_paths(&settings.path) {
        let candidate = directory.join(word);
        if is_masquerade(&candidate) {
            continue;
        }
        match judge(&candidate, settings) {
            Found::Program(path) => return Found::Program(path),
            Found::Itself(path) => result = Found::Itself(path),
            Found::Nothing => {}
        }
    }
    result
}

/// Whether a program runs the compiler named by its first argument.
pub(crate) fn is_launcher(program: &Path) -> bool {
    program.file_name().is_some_and(|name| LAUNCHERS.iter().any(|launcher| name == *launcher))
}

fn judge(candidate: &Path, settings: &Settings) -> Found {
    if !is_executable(candidate) {
        Found::Nothing
    } else if same_file(candidate, &settings.myself).unwrap_or(false) {
        Found::Itself(candidate.to_owned())
    } else {
        Found::Program(candidate.to_owned())
    }
}

/// Whether this is a link with the name of a compiler that leads to a launcher.
fn is_masquerade(candidate: &Path) -> bool {
    !is_launcher(candidate) && candidate.canonicalize().is_ok_and(|target| is_launcher(&target))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Compares device and inode numbers, so symbolic links and hard links to one file are equal.
fn same_file(left: &Path, right: &Path) -> io::Result<bool> {
    let (left, right) = (fs::metadata(left)?, fs::metadata(right)?);
    Ok((left.dev(), left.ino()) == (right.dev(), right.ino()))
}
