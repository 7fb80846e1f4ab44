//! Errors of opening a trace. Damage inside a trace is not an error; see [`crate::Damage`].

use std::{io, path::PathBuf};

use norn_model::excerpt;
use thiserror::Error;

/// Why a trace cannot be opened.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The path does not exist.
    #[error(
        "there is no trace at `{}`\nhint: `norn record -o {0} ./program` makes one", path.display()
    )]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The path exists but is not a trace.
    #[error(
        "`{}` is not a trace: {}\nhint: a trace is a folder with a `run.json` in it",
        path.display(), excerpt(why)
    )]
    NotATrace {
        /// The path.
        path: PathBuf,
        /// Why it is not a trace.
        why: String,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A newer version wrote the trace.
    #[error(
        "this trace was written by a newer norn (format {format}, this one reads up to \
         {supported})\nhint: install a newer norn, or record the program again"
    )]
    Newer {
        /// The trace's format.
        format: u32,
        /// The newest format that this version supports.
        supported: u32,
    },
    /// A version before the first supported format wrote the trace.
    #[error(
        "this trace was written by an older norn (format {format}, this one reads from \
         {supported} on)\nhint: record the program again"
    )]
    Older {
        /// The trace's format.
        format: u32,
        /// The oldest format that this version supports.
        supported: u32,
    },
    /// The run has no process with this number.
    #[error("the trace has no process {process}\nhint: it has {}", list(known))]
    NoSuchProcess {
        /// The requested process.
        process: u32,
        /// The existing processes.
        known: Vec<u32>,
    },
}

fn list(known: &[u32]) -> String {
    match known {
        [] => "none at all".to_owned(),
        [one] => format!("only process {one}"),
        [first, .., last] => format!("{} processes, {first} to {last}", known.len()),
    }
}
