//! What to run, and how to record it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use norn_trace::Order;

use crate::{Cancel, Plan};

/// What to run, and how to record it.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folder of the trace.
    pub output: PathBuf,
    /// The order of events that is recorded.
    pub order: Order,
    /// Whether to record the values of memory accesses.
    pub values: bool,
    /// The size of the trace in bytes at which recording stops; the subject continues.
    pub max_size: u64,
    /// The version of the tool, for the trace.
    pub version: String,
    /// The plan by which threads are scheduled, in a controlled run.
    pub plan: Option<Plan>,
    /// Patterns for the names of functions whose calls are recorded.
    pub functions: Vec<String>,
    /// The time limit of the subject.
    pub timeout: Option<Duration>,
    /// Ends the subject early.
    pub cancel: Cancel,
    /// The destination of its output.
    pub streams: Streams,
    /// Whether the subject gets its own process group, all of which is killed when it ends. Only for
    /// a controlled run.
    pub apart: bool,
    /// The debugger in which it runs, and its arguments, if it runs in one. The debugger gets the
    /// terminal, and decides when to start and end the subject. Only for a controlled run.
    pub debugger: Vec<OsString>,
    /// The working directory of the subject, if not that of the tool.
    pub directory: Option<PathBuf>,
    /// Environment variables of the subject in addition to those of the tool.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether to record inputs from outside the program. Only for a controlled run.
    pub keep_inputs: bool,
    /// The content of standard input, if the subject does not inherit it. A debugger keeps its own.
    pub stdin: Option<Vec<u8>>,
}

/// The destination of a subject's output, and the source of its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Those of the tool.
    #[default]
    Inherit,
    /// Those of the tool, but standard error is also captured. The subject then sees a pipe instead
    /// of a terminal.
    KeepErrors,
    /// Files. There is no input.
    Files {
        /// For standard output.
        stdout: PathBuf,
        /// For standard error.
        stderr: PathBuf,
    },
}
