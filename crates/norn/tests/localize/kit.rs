//! Compiles flaky programs and localizes their faults.

use std::{path::Path, process::Command};

use norn_e2e::{
    localize::{FOLDER, FlakySubject},
    process::{self, Ran},
    subject::{GCC, Subject},
};
use serde_json::Value;
use tempfile::TempDir;

/// A compiled program, in a folder of its own.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
}

/// Compiles a subject as `program`.
pub(crate) fn compile(subject: &Subject) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let none: [&str; 0] = [];
    let program = folder.path().join("program");
    let ran = process::run(subject.compile(norn(none), &program, GCC));
    assert!(ran.status.success(), "{ran:?}");
    Program { folder }
}

/// The flaky subject with this name.
pub(crate) fn flaky(name: &str) -> FlakySubject {
    let name = format!("{FOLDER}/{name}");
    FlakySubject::all().into_iter().find(|it| it.subject.name == name).unwrap()
}

/// The flaky program with this name.
pub(crate) fn program(name: &str) -> Program {
    compile(&flaky(name).subject)
}

impl Program {
    /// Runs a command in the folder of the program.
    pub(crate) fn norn(&self, words: &[&str]) -> Ran {
        process::run(self.command(words))
    }

    /// A command in the folder of the program.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = norn(words.iter().copied());
        command.current_dir(self.folder.path());
        command
    }

    /// Localizes with options. Returns the report.
    pub(crate) fn localize(&self, options: &[&str]) -> Value {
        let words = [&["localize", "--format", "json"], options, &["--", "./program"]].concat();
        let ran = self.norn(&words);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        ran.json()
    }
}

fn norn<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_norn"));
    process::norn(binary, Path::new(env!("CARGO_TARGET_TMPDIR")), words)
}
