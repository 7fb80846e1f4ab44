//! Errors of opening a module. No later operation fails: see the documentation of the crate.

use std::io;
use std::path::PathBuf;

/// The reasons why a file cannot be used as a module.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file could not be read or mapped.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file that was asked for.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not ELF: a script, an archive, or empty.
    #[error("{} is not an ELF file", path.display())]
    NotElf {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// An ELF file, but of a kind that Norn does not run.
    #[error("{} is {found}, not a 64-bit little-endian executable or shared library", path.display())]
    Unsupported {
        /// The file that was asked for.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
    /// The ELF headers contradict the file.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file that was asked for.
        path: PathBuf,
        /// The first contradiction.
        source: object::Error,
    },
}
