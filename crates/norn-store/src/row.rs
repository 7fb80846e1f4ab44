//! What the tables contain.

/// What all runs have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignRow {
    /// The settings, as JSON.
    pub settings: String,
    /// Whether it ends when the ranking has settled.
    pub stop_early: bool,
    /// The seed of the last run that counts, if the ranking has settled.
    pub settled: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It exceeded a limit.
    Unfinished,
    /// It could not be made.
    Lost,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Outcome; 4] =
        [Outcome::Passed, Outcome::Failed, Outcome::Unfinished, Outcome::Lost];

    /// Its name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Unfinished => "unfinished",
            Outcome::Lost => "lost",
        }
    }

    /// The outcome with a name.
    pub fn from_name(name: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRow {
    /// Its number, the same in all stores.
    pub id: i64,
    /// Its kind.
    pub kind: String,
    /// Its description, from the first run with it.
    pub title: String,
    /// What identifies it, as JSON.
    pub site: String,
    /// The seed of the first run with it.
    pub seed: u64,
    /// The clip of that run, as JSON.
    pub clip: Option<String>,
}

/// An interleaving pattern, and one of its occurrences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternRow {
    /// Its number, the same in all stores.
    pub id: i64,
    /// Its shape.
    pub shape: String,
    /// Its headline.
    pub title: String,
    /// The places of its accesses, as JSON.
    pub sites: String,
    /// Its accesses in a run, as JSON.
    pub accesses: String,
    /// The seed of that run: the first failing one with the pattern, or else the first one.
    pub seed: u64,
    /// Whether that run failed.
    pub failing: bool,
}

/// What a run contributes to a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// How it ended.
    pub outcome: Outcome,
    /// The scheduling strategy.
    pub strategy: String,
    /// For PCT: the number of events that was assumed.
    pub expected: u64,
    /// The failure, if it failed.
    pub failure: Option<FailureRow>,
    /// Its patterns, in the order in which they occurred first.
    pub patterns: Vec<i64>,
    /// Those of its patterns that are new to the store, or of which it is a better example.
    pub described: Vec<PatternRow>,
    /// Whether the order of all accesses is known.
    pub ordered: bool,
    /// Whether only some bytes of long accesses were looked at.
    pub sampled: bool,
    /// Why it was lost.
    pub error: Option<String>,
}

/// A run in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Its seed.
    pub seed: u64,
    /// How it ended, if it was made.
    pub outcome: Option<Outcome>,
    /// The scheduling strategy.
    pub strategy: String,
    /// For PCT: the number of events that was assumed.
    pub expected: u64,
    /// The failure, if it failed.
    pub failure: Option<i64>,
    /// Whether the order of all accesses is known.
    pub ordered: bool,
    /// Whether only some bytes of long accesses were looked at.
    pub sampled: bool,
    /// Why it was lost.
    pub error: Option<String>,
    /// Its patterns, in the order in which they occurred first.
    pub patterns: Vec<i64>,
}

/// How far a campaign is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of runs that are planned, made or not.
    pub planned: u64,
    /// Number of runs that have been made.
    pub made: u64,
    /// Number of runs that a worker is making.
    pub leased: u64,
}
