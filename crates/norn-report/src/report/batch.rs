//! Many runs of the program.

use norn_model::Consequence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Claimed, Control, Detour, EventRow, Verdict};

/// What came of many runs. Runs that did the same are of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// Runs that have ended.
    pub runs: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs of which recording ended before the program did.
    pub stopped: u64,
    /// The kinds, by their first runs.
    pub kinds: Vec<RunKind>,
    /// The kind that most runs are of, by its place in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual: Option<usize>,
    /// Segments that the schedule has, if all runs had the same schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<usize>,
    /// How the usual run was scheduled, if others differ from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The command that repeats the first failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeat: Vec<String>,
}

/// Runs that did the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunKind {
    /// How many.
    pub count: u64,
    /// The first of them, from 0.
    pub run: u64,
    /// The seed of that one.
    pub seed: u64,
    /// What they led to.
    pub consequence: Consequence,
    /// Whether they followed the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Fingerprints: runs with the same did the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub print: Option<Print>,
    /// In which respects they differ from the usual kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// The first event in which they differ from the usual kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parting: Option<Parting>,
    /// In how many of them threads ran while another was in code that is not instrumented.
    pub away: u64,
    /// In how many of them recording ended before the program did.
    pub stopped: u64,
    /// Where they left the path of the clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detour: Option<Detour>,
    /// Whether the claim of the clip is true of them, if the clip has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claimed>,
    /// The folder in which one of them is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// Where the events of two kinds of runs part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parting {
    /// The first event that differs, in the order of all events.
    pub event: u64,
    /// What the usual run did; nothing if it had no more events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual: Option<EventRow>,
    /// What this run did; nothing if it had no more events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<EventRow>,
}

/// Fingerprints of what a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Print {
    /// Of its events.
    pub events: u64,
    /// Of its standard output.
    pub stdout: u64,
    /// Of its standard error.
    pub stderr: u64,
}
