//! The modules of a process: its program and its libraries.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

/// A mapped file that contains code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its lowest address.
    pub start: u64,
    /// The address after its end.
    pub end: u64,
    /// The file.
    pub path: PathBuf,
    /// The sequence number at which it was first seen. A library may be unloaded and another one
    /// loaded at the same address: of two modules at an address, events with greater numbers refer
    /// to the later one.
    pub seq: u64,
}

impl Module {
    pub(crate) fn new(start: u64, end: u64, path: &[u8], seq: u64) -> Module {
        Module { start, end, path: PathBuf::from(OsStr::from_bytes(path)), seq }
    }
}
