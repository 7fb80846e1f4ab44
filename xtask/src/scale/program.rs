//! The programs that are measured. To add one: write it, let its argument be the approximate number of
//! events, and list it here.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{norn::Norn, workspace};

/// A program whose argument is the approximate number of its events.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// What it does, for the document.
    pub(crate) what: &'static str,
    source: &'static str,
}

impl Program {
    pub(crate) const ALL: &[Program] = &[
        Program {
            name: "mixed",
            what: "4 threads, mostly private memory, tables under 16 locks, a race",
            source: include_str!("mixed.c"),
        },
        Program {
            name: "queue",
            what: "2 producers and 2 consumers, condition variables, blocks that are handed over",
            source: include_str!("queue.c"),
        },
        Program {
            name: "sort",
            what: "2 threads sort the halves of one array, a race",
            source: include_str!("sort.c"),
        },
    ];

    /// Compiles it with instrumentation.
    pub(crate) fn build(&self, norn: &Norn, folder: &Path) -> Result<PathBuf> {
        let (source, binary) = (folder.join(format!("{}.c", self.name)), folder.join(self.name));
        fs::write(&source, self.source).context("cannot write a program")?;
        let mut compiler = Command::new(&norn.path);
        compiler.args(["cc", "-O1", "-g", "-pthread"]).arg(&source).arg("-o").arg(&binary);
        workspace::succeed(&mut compiler)?;
        Ok(binary)
    }
}
