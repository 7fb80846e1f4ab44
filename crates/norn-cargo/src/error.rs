//! Why a Rust program cannot be built with hooks.

use std::{io, path::PathBuf, process::ExitStatus};

use thiserror::Error;

/// Why there is no program to run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CargoError {
    /// A tool of the Rust toolchain cannot be started.
    #[error(
        "cannot run `{program}`: {source}\nhint: `cargo norn` needs cargo and rustc on the PATH"
    )]
    Start {
        /// The tool.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Norn has no runtime for this platform.
    #[error(
        "programs for `{target}` cannot be instrumented, only those for {}\n\
         hint: leave out `--target` and `build.target` on x86-64 Linux with glibc",
        crate::TARGET
    )]
    Target {
        /// The target that was asked for.
        target: String,
    },
    /// The compiler does not accept the options that insert hooks.
    #[error(
        "rustc {version} cannot insert the hooks: {reason}\n\
         hint: `rustup update stable` installs a version that can; {} and later do",
        crate::OLDEST_RUSTC
    )]
    Toolchain {
        /// The version of rustc.
        version: String,
        /// The first error that it prints.
        reason: String,
    },
    /// The wrapper of the compiler cannot be written.
    #[error("cannot write `{}`: {source}", .path.display())]
    Wrapper {
        /// Its file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// cargo does not describe the workspace.
    #[error("cannot read the workspace: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    /// cargo failed; it has printed why.
    #[error("cargo failed: {0}")]
    Build(ExitStatus),
    /// The output of cargo cannot be read.
    #[error("cannot read the output of cargo: {0}")]
    Output(io::Error),
    /// A command needs one program, and the options select another number.
    #[error("{}\nhint: choose one: {}", choice(.names), options(.names))]
    Choice {
        /// The programs, as the options that select them.
        names: Vec<String>,
    },
    /// A test program does not list its tests.
    #[error("`{}` does not list its tests: {reason}", .program.display())]
    List {
        /// The program.
        program: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// Options in a manifest or on the command line are wrong.
    #[error("{place}: {reason}")]
    Options {
        /// Where they are.
        place: String,
        /// What is wrong.
        reason: String,
    },
}

fn choice(names: &[String]) -> String {
    match names.len() {
        0 => "no program is selected".to_owned(),
        number => format!("{number} programs are selected, but the command runs one"),
    }
}

fn options(names: &[String]) -> String {
    if names.is_empty() { "--bin or --example, with its name".to_owned() } else { names.join(", ") }
}
