//! Which interleaving patterns separate failing from passing runs.

use norn_model::{BugClass, Location};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Access;

/// The ranking of interleaving patterns over many runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Localization {
    /// Number of runs that passed.
    pub passed: u64,
    /// Number of runs that failed.
    pub failed: u64,
    /// Number of runs that exceeded a limit. They are neither passing nor failing.
    pub unfinished: u64,
    /// Number of runs that norn could not make or read.
    pub lost: u64,
    /// Number of planned runs of a stored campaign that have not been made yet.
    #[serde(default)]
    pub pending: u64,
    /// The runs among these that followed predicted schedules, because no other run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PredictedRuns>,
    /// Number of different patterns in all runs.
    pub patterns: usize,
    /// Number of accesses that the window of each variable has room for.
    pub window: usize,
    /// The formula of the scores: `jaccard`, `tarantula` or `ochiai`.
    pub score: String,
    /// Whether the runs ended early because more of them would not have changed the first pattern.
    pub settled: bool,
    /// Number of runs in which the order of plain accesses of different threads was not recorded, so that
    /// it is only approximately known.
    pub unordered: u64,
    /// Number of runs in which not all accesses were observed: only some bytes of very long ones, or some
    /// of those at sites that are executed very often.
    pub sampled: u64,
    /// The failures, the most frequent first, each with a ranking of its own.
    pub clusters: Vec<FailureCluster>,
}

/// Runs that followed predicted schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedRuns {
    /// Number of them.
    pub runs: u64,
    /// Number of those that failed.
    pub failed: u64,
}

/// The failing runs with the same failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureCluster {
    /// The failure.
    pub title: String,
    /// Where it happens; for a deadlock, where each thread waits.
    pub places: Vec<Location>,
    /// Number of runs with this failure.
    pub failed: u64,
    /// The first of these runs, from 0, or the folder of its trace.
    pub first: String,
    /// The command that repeats that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reproduce: Vec<String>,
    /// The clip of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// The most suspicious patterns, the most suspicious first.
    pub ranking: Vec<RankedPattern>,
    /// Number of other patterns that occurred in a run with this failure.
    pub more: usize,
}

/// An interleaving pattern and how suspicious it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedPattern {
    /// `atomicity` for triples, `order` for pairs.
    pub class: BugClass,
    /// Its shape: `R1-W2-W1` is a read of one thread, a write of another one, and a write of the first.
    pub shape: String,
    /// A headline, for people.
    pub title: String,
    /// Its accesses in one of the runs, a failing one if there is any.
    pub accesses: Vec<Access>,
    /// Number of runs with this failure in which it occurred.
    pub failed: u64,
    /// Number of passing runs in which it occurred.
    pub passed: u64,
    /// Its score, from 0 to 1.
    pub score: f64,
    /// The 95 % confidence interval of the score.
    pub interval: ScoreInterval,
    /// Runs with the pattern forced and prevented, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<CauseExperiment>,
}

/// Runs in which a pattern was forced, and runs in which it was prevented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CauseExperiment {
    /// Number of runs in which it was made to happen.
    pub forced: u64,
    /// Number of these that failed in the same way.
    pub forced_failed: u64,
    /// Number of runs in which it was kept from happening.
    pub prevented: u64,
    /// Number of these that failed in the same way.
    pub prevented_failed: u64,
    /// Whether the failure follows the pattern: the 95 % confidence intervals of both shares do not
    /// overlap.
    pub confirmed: bool,
}

/// The range in which a score lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}
