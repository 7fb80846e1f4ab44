//! The compilers of a subject.

use std::{path::Path, process::Command};

use anyhow::Result;

use crate::{norn::Norn, workspace};

/// The flags of every measured build.
pub(crate) const FLAGS: &str = "-O2 -g";

/// A pair of compilers, each a command line without spaces inside its words.
#[derive(Clone, Debug)]
pub(crate) struct Toolchain {
    pub(crate) name: &'static str,
    pub(crate) cc: String,
    pub(crate) cxx: String,
}

impl Toolchain {
    /// The plain compiler.
    pub(crate) fn native() -> Toolchain {
        Toolchain { name: "native", cc: "gcc".to_owned(), cxx: "g++".to_owned() }
    }

    /// The same compiler behind Norn's wrapper.
    pub(crate) fn norn(norn: &Norn) -> Toolchain {
        let path = norn.path.display();
        Toolchain { name: "norn", cc: format!("{path} cc"), cxx: format!("{path} c++") }
    }

    /// The same compiler with its own ThreadSanitizer.
    pub(crate) fn libtsan() -> Toolchain {
        let flag = "-fsanitize=thread";
        Toolchain { name: "libtsan", cc: format!("gcc {flag}"), cxx: format!("g++ {flag}") }
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
