//! Counts, and how the command ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of findings and runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Findings.
    pub candidates: usize,
    /// Findings that the recorded run itself shows.
    pub observed: usize,
    /// Findings that are confirmed.
    pub confirmed: usize,
    /// Findings that are confirmed and harmful.
    pub harmful: usize,
    /// Bugs that harmful findings and failures show, without those that are suppressed.
    pub bugs: usize,
    /// Bugs that only failures show, which nothing predicted.
    #[serde(default)]
    pub unpredicted_bugs: usize,
    /// Findings that show these bugs.
    pub bug_findings: usize,
    /// Harmful findings and failures that happened once and not again in a replay.
    pub not_reproducible: usize,
    /// Findings that no schedule can make happen.
    pub infeasible: usize,
    /// Findings for which no schedule was found and none is excluded.
    pub inconclusive: usize,
    /// Findings with a schedule that the program did not follow.
    pub unconfirmed: usize,
    /// Findings that were not tried.
    pub untried: usize,
    /// Findings that have a schedule.
    pub scheduled: usize,
    /// Findings of a prediction for which no schedule was looked for.
    pub not_examined: usize,
    /// Confirmed findings and failures that a suppression matches.
    pub suppressed: usize,
    /// Confirmed findings and failures that the baseline has.
    pub known: usize,
    /// Executions of the program, the recorded run included, without replays.
    pub executions: usize,
    /// Further executions, in which clips of harmful findings and failures were replayed.
    pub replays: usize,
    /// Why the search ended.
    pub ended: Ended,
    /// Whether the maximum number of executions was reached.
    pub budget_spent: bool,
    /// Whether the user interrupted the search.
    pub interrupted: bool,
    /// Traces that were predicted from.
    pub sources: usize,
    /// Instances of properties.
    pub instances: usize,
    /// Whether a search was given up before its end.
    pub incomplete: bool,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Nothing was left to try.
    #[default]
    Complete,
    /// The maximum number of executions was reached.
    Budget,
    /// The time limit was reached.
    Time,
    /// The first harmful finding was confirmed, and no more were wanted.
    First,
    /// The user interrupted it.
    Interrupted,
}

/// How the command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExitStatus {
    /// The status of the process.
    pub code: u8,
    /// What it means.
    pub meaning: ExitMeaning,
}

/// What the status of the command means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExitMeaning {
    /// Nothing harmful was found; or the replayed failure did not happen again.
    #[default]
    Clean,
    /// Something harmful happened.
    Harmful,
    /// Wrong usage, or the tool failed.
    Error,
    /// The user interrupted the command before anything harmful was found.
    Interrupted,
    /// The job could not be done: there was nothing to record.
    Impossible,
    /// The status is that of the program under test.
    Program,
}
