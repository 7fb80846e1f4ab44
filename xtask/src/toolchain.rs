//! The compilers of a subject.

use std::{path::Path, process::Command};

use anyhow::Result;

use crate::{norn::Norn, workspace};

/// The flags of every measured build.
pub(crate) const FLAGS: &str = "-O2 -g";
/// The same for Rust.
const RUST_FLAGS: [&str; 3] = ["--edition=2024", "-Copt-level=2", "-g"];

/// A pair of compilers, each a command line without spaces inside its words.
#[derive(Clone, Debug)]
pub(crate) struct Toolchain {
    pub(crate) name: &'static str,
    pub(crate) cc: String,
    pub(crate) cxx: String,
    /// The compiler of Rust, with the options of the toolchain.
    pub(crate) rustc: String,
}

impl Toolchain {
    /// The plain compiler.
    pub(crate) fn native() -> Toolchain {
        Toolchain::new("native", "gcc", "g++", "rustc")
    }

    /// The same compiler behind Norn's wrapper.
    pub(crate) fn norn(norn: &Norn) -> Toolchain {
        let path = norn.path.display();
        let command = |name: &str| format!("{path} {name}");
        Toolchain::new("norn", &command("cc"), &command("c++"), &command("rustc"))
    }

    /// The same compiler with its own ThreadSanitizer.
    pub(crate) fn libtsan() -> Toolchain {
        let (cc, cxx) = ("gcc -fsanitize=thread", "g++ -fsanitize=thread");
        // Without the second option, rustc wants a standard library with hooks.
        let rustc = "rustc -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
        Toolchain::new("libtsan", cc, cxx, rustc)
    }

    fn new(name: &'static str, cc: &str, cxx: &str, rustc: &str) -> Toolchain {
        Toolchain { name, cc: cc.to_owned(), cxx: cxx.to_owned(), rustc: rustc.to_owned() }
    }

    /// Compiles one Rust file to a program. A stable compiler accepts the option of the sanitizer by
    /// the variable.
    pub(crate) fn compile_rust(&self, source: &Path, program: &Path) -> Result<()> {
        let mut words = self.rustc.split(' ');
        let mut command = command(words.next().unwrap_or("rustc"));
        command.args(words).args(RUST_FLAGS).env("RUSTC_BOOTSTRAP", "1");
        workspace::succeed(command.arg(source).arg("-o").arg(program))
    }

    /// Compiles one C file to a program.
    pub(crate) fn compile(&self, source: &Path, program: &Path) -> Result<()> {
        let mut words = self.cc.split(' ');
        let mut command = command(words.next().unwrap_or("gcc"));
        command.args(words).args(FLAGS.split(' ')).arg("-pthread");
        workspace::succeed(command.arg(source).arg("-o").arg(program))
    }
}

/// A build command. Every toolchain uses the same underlying compiler.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("NORN_CC", "gcc").env("NORN_CXX", "g++");
    command
}
