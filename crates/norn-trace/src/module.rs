//! The modules of a process: its program and its libraries.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

/// A file with code that was mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Where it begins.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// The file.
    pub path: PathBuf,
    /// When it was first seen, in the order of synchronisation. A library may be unloaded, and
    /// another one be loaded to the same place: of two modules at an address, the later one is
    /// meant by events with greater numbers.
    pub seq: u64,
}

impl Module {
    pub(crate) fn new(start: u64, end: u64, path: &[u8], seq: u64) -> Module {
        Module { start, end, path: PathBuf::from(OsStr::from_bytes(path)), seq }
    }
}
