//! The result of a run.

use std::{io, process::ExitStatus, time::Duration};

use norn_model::Location;
use norn_trace::Run;
use serde::{Deserialize, Serialize};

/// The result of a run.
#[derive(Debug)]
pub struct Recording {
    /// The description of the run, as it is in the trace.
    pub run: Run,
    /// How the subject ended, or the debugger in which it ran.
    pub status: ExitStatus,
    /// How long that took, from the start of the recorder to its end.
    pub duration: Duration,
    /// Whether any event was recorded. If not, the subject was not built with norn.
    pub recorded: bool,
    /// Whether the subject, or a program that it ran, was built with another version of norn.
    pub stranger: bool,
    /// Whether the subject, or a program that it ran, could not map the shared memory.
    pub unmapped: bool,
    /// The error because of which the trace is incomplete.
    pub refused: Option<io::Error>,
    /// Why the tool ended the subject, if it did.
    pub cut: Option<Cut>,
    /// The message with which the program announced its failure.
    pub message: Option<FailureMessage>,
}

/// Why the tool ended a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// The scheduler had reported a failure.
    Found,
    /// It had run into the timeout.
    Timeout(Duration),
    /// The tool had received this signal.
    Interrupt(i32),
    /// Its result was no longer needed.
    Cancelled,
}

/// The message with which a program announces its failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureMessage {
    /// An assertion failed.
    Assertion {
        /// The condition.
        condition: String,
        /// The place of the assertion.
        at: Option<Location>,
    },
    /// An exception was not caught.
    Exception {
        /// Its class.
        class: String,
        /// Its text.
        what: Option<String>,
    },
    /// A thread of a Rust program panicked.
    Panic {
        /// Its message.
        message: String,
        /// The place of the panic.
        at: Option<Location>,
    },
}
