//! Why a trace cannot be opened at all. Damage inside of one is no error; see [`crate::Damage`].

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Why a trace cannot be opened.
#[derive(Debug, Error)]
pub enum TraceError {
    /// There is nothing.
    #[error(
        "there is no trace at `{}`\nhint: `norn record -o {0} ./program` makes one", path.display()
    )]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// There is something else.
    #[error(
        "`{}` is not a trace: {why}\nhint: a trace is a folder with a `run.json` in it",
        path.display()
    )]
    NotATrace {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It may not be read, or the disk fails.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is from the future.
    #[error(
        "this trace was written by a newer norn (format {format}, this one reads up to \
         {supported})\nhint: install a newer norn, or record the program again"
    )]
    Newer {
        /// The trace's format.
        format: u32,
        /// The newest format that this version knows.
        supported: u32,
    },
    /// It is from before formats were kept readable.
    #[error(
        "this trace was written by an older norn (format {format}, this one reads from \
         {supported} on)\nhint: record the program again"
    )]
    Older {
        /// The trace's format.
        format: u32,
        /// The oldest format that this version knows.
        supported: u32,
    },
    /// The run had no such process.
    #[error("the trace has no process {process}\nhint: it has {}", list(known))]
    NoSuchProcess {
        /// Which was asked for.
        process: u32,
        /// Which there are.
        known: Vec<u32>,
    },
}

impl TraceError {
    /// Tells a missing file from one that cannot be read.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> TraceError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => TraceError::Missing { path },
            _ => TraceError::Unreadable { path, source },
        }
    }
}

fn list(known: &[u32]) -> String {
    match known {
        [] => "none at all".to_owned(),
        [one] => format!("only process {one}"),
        [first, .., last] => format!("{} processes, {first} to {last}", known.len()),
    }
}
