//! Builds and runs programs in a folder.

use std::{ffi::OsStr, fs, path::Path, process::Command};

use norn_e2e::process;
pub(crate) use norn_e2e::process::Ran;
use serde_json::Value;
use tempfile::TempDir;

/// A command of norn in a folder.
pub(crate) fn norn<S: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = S>) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_norn"));
    let mut command = process::norn(binary, Path::new(env!("CARGO_TARGET_TMPDIR")), words);
    command.current_dir(folder);
    command
}

/// A folder with the program `prog`, built from a source.
pub(crate) fn program(source: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prog.c"), source).unwrap();
    let words = ["cc", "-g", "-O1", "-pthread", "prog.c", "-o", "prog"];
    let ran = process::run(norn(folder.path(), words));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

/// The events of a recorded run.
pub(crate) fn events(folder: &Path) -> Vec<Value> {
    let ran = process::run(norn(folder, ["record", "-o", "run.norn", "./prog"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = process::run(norn(folder, ["dump", "--format", "json", "run.norn"]));
    ran.stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Runs a command of norn.
pub(crate) fn run<S: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = S>) -> Ran {
    process::run(norn(folder, words))
}
