//! Why a schedule cannot be forced on a program.

use std::{io, path::PathBuf};

use norn_frontend::FrontEndError;
use norn_trace::TraceError;
use thiserror::Error;

/// Why a schedule cannot be forced on a program.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The clip cannot be read.
    #[error("cannot read the clip `{}`: {source}", path.display())]
    ReadClip {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What came from outside cannot be read.
    #[error("cannot read the inputs in `{}`: {source}", path.display())]
    Inputs {
        /// The folder of the trace.
        path: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
    /// The clip cannot be written.
    #[error("cannot write the clip `{}`: {source}", path.display())]
    WriteClip {
        /// Where it is to be.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The clip is none.
    #[error("`{}` is not a clip: {source}\nhint: docs/schedules.md says how one is written", path.display())]
    NotAClip {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The clip was written by a newer version.
    #[error("`{}` is a clip of version {version}, and this norn reads version {known}\nhint: use a newer norn", path.display())]
    Newer {
        /// Where it is.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The check cannot be asked.
    #[error("cannot run the check `{command}`: {source}")]
    Check {
        /// The command.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// What is needed on the way cannot be kept.
    #[error("cannot use `{}` for files of a run: {source}\nhint: TMPDIR names another folder", path.display())]
    Scratch {
        /// Where it is to be.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The clip names no program.
    #[error("`{}` says nothing of the program to run\nhint: name it: norn replay {} -- ./program", .0.display(), .0.display())]
    NoCommand(PathBuf),
    /// The subject cannot be run.
    #[error(transparent)]
    FrontEnd(#[from] FrontEndError),
    /// What it left cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
