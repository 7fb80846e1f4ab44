//! Errors that can occur before the real compiler runs.
//!
//! Once the compiler runs, it reports its own errors. The errors here are about finding the
//! compiler and about installing the runtime where the compiler can link it.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::Language;

/// Why there is no command to run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CcError {
    /// None of the usual names is on the `PATH`.
    #[error(
        "found no {language} compiler: none of {} is on the PATH\n\
         hint: install gcc or clang, or name one with {}",
        .tried.join(", "), .language.variable()
    )]
    NoCompiler {
        /// The language to compile.
        language: Language,
        /// The names looked for, in order.
        tried: &'static [&'static str],
    },
    /// The compiler that the user asked for does not exist.
    #[error(
        "the program `{program}` that {} names is not there, or may not be executed\n\
         hint: {0} takes a command such as `gcc-12`, `/opt/llvm/bin/clang` or `ccache gcc`",
        .language.variable()
    )]
    NotFound {
        /// The language to compile.
        language: Language,
        /// The word that names no program.
        program: String,
    },
    /// The compiler that the user asked for is Norn.
    #[error(
        "{} names `{}`, which is Norn itself\n\
         hint: it must name the compiler that Norn shall run, such as `gcc` or `clang`",
        .language.variable(), .program.display()
    )]
    Itself {
        /// The language to compile.
        language: Language,
        /// Where Norn was found.
        program: PathBuf,
    },
    /// The compiler is neither a gcc nor a clang.
    #[error(
        "cannot tell whether `{}` is a gcc or a clang; its --version begins with {version:?}\n\
         hint: Norn works with gcc 12 or later and clang 14 or later; name one with {}",
        .program.display(), .language.variable()
    )]
    UnknownFamily {
        /// The language to compile.
        language: Language,
        /// The compiler.
        program: PathBuf,
        /// The first line of its `--version` output.
        version: String,
    },
    /// The runtime cannot be written to the cache.
    #[error(
        "cannot write Norn's runtime to `{}`: {source}\n\
         hint: the runtime is kept in a cache; make that directory writable or choose another",
        .path.display()
    )]
    Install {
        /// The file or directory that could not be written.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}
