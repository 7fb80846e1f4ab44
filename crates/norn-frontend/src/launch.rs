//! What to run, and how to record it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use norn_trace::{Lifetime, Order};

use crate::{Cancel, Plan};

/// What to run, and how to record it.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folder of the trace.
    pub output: PathBuf,
    /// How long the trace is kept.
    pub lifetime: Lifetime,
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
    /// Interleaving patterns that the runtime collects. Without a plan, this takes the place of recording
    /// accesses.
    pub collect: Option<Collect>,
    /// Patterns for the names of functions whose calls are recorded.
    pub functions: Vec<String>,
    /// The time limit of the subject.
    pub timeout: Option<Duration>,
    /// Ends the subject early.
    pub cancel: Cancel,
    /// The destination of its output.
    pub streams: Streams,
    /// Whether the subject gets its own process group, all of which is killed when it ends. Only for
    /// a controlled run, or if patterns are collected.
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

/// How interleaving patterns are collected while the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect {
    /// Number of slots of each window.
    pub window: usize,
    /// Whether all accesses are observed, also at sites that are executed very often.
    pub observe_all: bool,
    /// The random delays that vary the order of threads, if any.
    pub delays: Option<Delays>,
}

/// Random delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// The seed of all choices.
    pub seed: u64,
    /// Number of accesses to shared variables and of synchronizing operations among which one is
    /// delayed, on average.
    pub every: u64,
    /// The longest delay.
    pub longest: Duration,
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
