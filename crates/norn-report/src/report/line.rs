//! The lines of a report that is written while the command runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, Finding, ObservedFailure, Report, Tool};

/// One line of a stream. The first is `start`, the last is `end`; the others come as soon as they are
/// known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The command begins.
    Start(Start),
    /// A bug that was not known before: a harmful finding, after its clip was replayed. `bug` is its
    /// number, which it keeps.
    Finding(Box<Finding>),
    /// Another harmful finding of a bug with a number, or the same finding with a failure that it did not
    /// lead to before.
    Update(Box<Update>),
    /// A reproducible failure that happened without having been predicted. `bug` is its number, if it
    /// counts.
    Observed(Box<Unpredicted>),
    /// How far the command has come.
    Progress(Progress),
    /// The command has ended: the whole report.
    End(Box<Report>),
}

/// The beginning of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Version of this format.
    pub schema: u32,
    /// The program that writes the report.
    pub tool: Tool,
    /// The command that was given.
    pub command: Command,
    /// Command line of the program under test.
    pub program: Vec<String>,
}

/// What else is known about a bug.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Update {
    /// Whether this is the first failure that the bug leads to.
    pub worse: bool,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A failure that happened without having been predicted, and the attempt in which it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpredicted {
    /// The failure.
    #[serde(flatten)]
    pub failure: ObservedFailure,
    /// The finding that the run was to confirm, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Finding>,
    /// Whether its bug was known before, without a failure.
    #[serde(default)]
    pub known: bool,
}

/// How far a command has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Executions of the program so far, without replays.
    pub executions: usize,
    /// The maximum number of executions.
    pub budget: usize,
    /// Confirmed findings so far.
    pub confirmed: usize,
    /// Candidates that are left to try in the trace that is analysed.
    pub candidates_left: usize,
}
