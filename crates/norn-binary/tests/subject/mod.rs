//! Builds small programs with the compilers of this machine, and inspects them with an ELF reader
//! other than the one under test.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use norn_e2e::tool::is_installed;
use object::{Object, ObjectSymbol};
use tempfile::TempDir;

/// A compiled program in a directory of its own.
pub(crate) struct Subject {
    pub(crate) directory: TempDir,
    pub(crate) path: PathBuf,
}

impl Subject {
    /// Compiles one of the programs beside the tests.
    pub(crate) fn build(compiler: &str, program: &str, flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("subject");
        let subject = Self { directory, path };
        let source = programs().join(program);
        let output = subject.path.to_str().unwrap();
        let arguments: Vec<_> =
            [source.to_str().unwrap(), "-o", output].iter().chain(flags).copied().collect();
        subject.run(compiler, &arguments);
        subject
    }

    /// Runs a tool in the subject's directory and expects it to succeed.
    pub(crate) fn run(&self, tool: &str, arguments: &[&str]) {
        let output = Command::new(tool)
            .args(arguments)
            .current_dir(self.directory.path())
            .output()
            .unwrap_or_else(|error| panic!("{tool} is needed for this test: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool} {arguments:?}: {errors}");
    }

    /// A file beside the program.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A copy of this program's files under the same names, which may be modified.
    pub(crate) fn copy(&self) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("subject");
        fs::copy(&self.path, &path).unwrap();
        Self { directory, path }
    }

    /// The value of the symbol with this name. Static variables of functions have a decorated name:
    /// gcc appends a number (`id.0`), clang prepends the function (`next_id.id`).
    pub(crate) fn address(&self, name: &str) -> u64 {
        let bytes = fs::read(&self.path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let (numbered, prefixed) = (format!("{name}."), format!(".{name}"));
        let symbol = file.symbols().find(|symbol| {
            let symbol = symbol.name().unwrap_or_default();
            symbol == name || symbol.starts_with(&numbered) || symbol.ends_with(&prefixed)
        });
        symbol.unwrap_or_else(|| panic!("no symbol {name}")).address()
    }
}

/// The folder with the sources of the programs.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The line of a source with this comment.
pub(crate) fn line_of(program: &str, comment: &str) -> u32 {
    let source = fs::read_to_string(programs().join(program)).unwrap();
    let line = source.lines().position(|line| line.ends_with(comment)).unwrap();
    u32::try_from(line + 1).unwrap()
}

/// The clang compilers on this machine. `c` is `""` or `"++"`.
pub(crate) fn clangs(c: &str) -> Vec<String> {
    let names = ["-14", "-19"].map(|version| format!("clang{c}{version}"));
    names.into_iter().filter(|name| is_installed(name)).collect()
}
