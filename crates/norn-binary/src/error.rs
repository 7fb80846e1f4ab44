//! Why a module could not be opened. After opening, nothing is an error: see the crate's head.

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
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else: a script, an archive, nothing at all.
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
