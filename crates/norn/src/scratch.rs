//! A folder for what is needed on the way, which does not outlive the command: not even if somebody
//! ends it before its time.

use std::{io, path::Path};

use norn_frontend::Interrupt;
use tempfile::TempDir;

/// The folder. As long as there is one, a request to end ends the runs, and leaves the command to
/// end by itself.
#[derive(Debug)]
pub(crate) struct Scratch {
    // The folder goes first.
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
