//! Runs `norn` and reads its output.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

pub(crate) use norn_e2e::process::Ran;
use norn_e2e::{process, subject};
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
const NORN: &str = env!("CARGO_BIN_EXE_norn");

/// `norn` in a folder.
pub(crate) fn norn<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>, folder: &TempDir) -> Ran {
    norn_with("gcc", words, folder)
}

/// `norn` with another compiler.
pub(crate) fn norn_with<S: AsRef<OsStr>>(
    compiler: &str,
    words: impl IntoIterator<Item = S>,
    folder: &TempDir,
) -> Ran {
    let mut command = process::norn(Path::new(NORN), Path::new(env!("CARGO_TARGET_TMPDIR")), words);
    command.current_dir(folder.path()).env("NORN_CC", compiler);
    command.env("NORN_CXX", compiler.replace("clang", "clang++").replace("gcc", "g++"));
    process::run(command)
}

/// Builds a subject; the program is `subject` in the folder.
pub(crate) fn build(source: &Path, folder: &TempDir) {
    let source = source.to_str().unwrap();
    let ran = norn(["cc", "-g", "-O1", "-pthread", "-o", "subject", source], folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// The result of a check.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) json: Value,
    /// The folder of the clips.
    pub(crate) folder: TempDir,
}

/// Checks properties against a program.
pub(crate) fn check(properties: &[&str], program: &Path) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let mut words = vec!["check", properties[0], "-j", "2", "--format", "json"];
    words.extend(properties[1..].iter().flat_map(|it| ["--property", it]));
    words.extend(["--", program.to_str().unwrap()]);
    let ran = norn(words, &folder);
    let json = serde_json::from_str(&ran.stdout);
    let json = json.unwrap_or_else(|error| panic!("{}: {error}\n{ran:?}", program.display()));
    Checked { json, folder }
}

impl Checked {
    /// The violations with this status.
    pub(crate) fn violations(&self, status: &str) -> Vec<&Value> {
        let all = self.json["findings"].as_array().unwrap().iter();
        all.filter(|it| it["status"] == status).collect()
    }
}

/// The folder with the subjects.
pub(crate) fn subjects() -> PathBuf {
    subject::subjects().join("property")
}
