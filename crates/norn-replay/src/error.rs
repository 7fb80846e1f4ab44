//! Why a schedule cannot be forced on a program.

use std::{io, path::PathBuf};

use norn_frontend::FrontEndError;
use norn_model::excerpt;
use norn_trace::TraceError;
use thiserror::Error;

/// Why a schedule cannot be forced on a program.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The clip cannot be read.
    #[error("cannot read the clip `{}`: {source}", path.display())]
    ReadClip {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The inputs cannot be read.
    #[error("cannot read the inputs in `{}`: {source}", path.display())]
    Inputs {
        /// The folder of the trace.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The clip cannot be written.
    #[error("cannot write the clip `{}`: {source}", path.display())]
    WriteClip {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a clip.
    #[error(
        "`{}` is not a clip: {}\nhint: docs/schedules.md describes the format",
        path.display(), excerpt(&source.to_string())
    )]
    NotAClip {
        /// The path.
        path: PathBuf,
        /// The syntax error.
        source: serde_json::Error,
    },
    /// The clip was written by a newer version.
    #[error("`{}` is a clip of version {version}, and this norn reads version {known}\nhint: use a newer norn", path.display())]
    Newer {
        /// The path.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The check cannot be run.
    #[error("cannot run the check `{command}`: {source}")]
    Check {
        /// The command.
        command: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A temporary file or folder cannot be used.
    #[error("cannot use `{}` for files of a run: {source}\nhint: set TMPDIR to another folder", path.display())]
    Scratch {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The inputs of a program were to be recorded, but the command starts it together with what it
    /// talks to.
    #[error(
        "cannot record the inputs of a program that `{command}` starts: whatever else it starts would talk to a program that does not answer when its inputs are fed back\nhint: give norn the program itself and start its clients beside norn, or leave out --record-inputs"
    )]
    InputsOfChild {
        /// The command.
        command: String,
    },
    /// The clip names no program.
    #[error("`{}` does not name the program to run\nhint: name it: norn replay {} -- ./program", .0.display(), .0.display())]
    NoCommand(PathBuf),
    /// The subject cannot be run.
    #[error(transparent)]
    FrontEnd(#[from] FrontEndError),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
