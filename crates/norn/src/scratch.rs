//! A temporary folder, which is removed when the command ends, also when it is interrupted.

use std::{io, path::Path};

use norn_frontend::Interrupt;
use tempfile::TempDir;

/// The folder. While it exists, an interrupt ends the runs but not the command, which then removes the
/// folder and ends by itself.
#[derive(Debug)]
pub(crate) struct Scratch {
    // Fields are dropped in this order: the folder must be removed while interrupts are caught.
    folder: TempDir,
    _watch: Interrupt,
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Scratch> {
        let watch = Interrupt::watch();
        Ok(Scratch { folder: tempfile::Builder::new().prefix("norn-").tempdir()?, _watch: watch })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}
