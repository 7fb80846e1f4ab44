//! Runs hunts and reads their reports.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

pub(crate) use norn_e2e::{
    hunt::Hunt,
    process::{Ran, run},
};
use norn_e2e::{process, subject};
use tempfile::TempDir;

/// The program under test.
pub(crate) const NORN: &str = env!("CARGO_BIN_EXE_norn");

/// `norn hunt` in a folder.
pub(crate) fn norn_hunt<S: AsRef<OsStr>>(
    words: impl IntoIterator<Item = S>,
    folder: &TempDir,
) -> Ran {
    norn("hunt", words, folder)
}

/// Another command in a folder.
pub(crate) fn norn<S: AsRef<OsStr>>(
    name: &str,
    words: impl IntoIterator<Item = S>,
    folder: &TempDir,
) -> Ran {
    let mut command = command(name);
    command.args(words).current_dir(folder.path());
    run(command)
}

/// A command that is not started yet.
pub(crate) fn command(name: &str) -> Command {
    process::norn(Path::new(NORN), Path::new(env!("CARGO_TARGET_TMPDIR")), [name])
}

/// Hunts in a source file or a program, with this many runs without a prediction.
pub(crate) fn hunt(program: &Path, explore: u32) -> Hunt {
    let folder = tempfile::tempdir().unwrap();
    let explore = explore.to_string();
    let options = ["-j", "2", "--format", "json", "--explore", &explore, "--"];
    let words = options.map(OsStr::new).into_iter().chain([program.as_os_str()]);
    Hunt::read(&norn_hunt(words, &folder))
}

/// The folder with the subjects of a kind.
pub(crate) fn subjects(kind: &str) -> PathBuf {
    subject::subjects().join(kind)
}

/// A folder with a source file `subject.c` or `subject.cc`.
pub(crate) fn source_folder(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    folder
}

/// Hunts in a C program that is given as text.
pub(crate) fn hunt_text(text: &str, options: &[&str]) -> (Ran, TempDir) {
    let folder = source_folder("subject.c", text);
    let ran = norn_hunt(options.iter().copied().chain(["subject.c"]), &folder);
    (ran, folder)
}
