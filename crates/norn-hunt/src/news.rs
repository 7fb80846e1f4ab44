//! What a campaign reports while it runs. A listener hears of each step in the order of the decisions,
//! so what it hears does not depend on the number of runs in parallel.

use std::ops::ControlFlow;

/// A report of a running campaign, whose results have the type `R`.
#[derive(Debug)]
pub enum News<R> {
    /// How far it has come.
    Stage(Stage),
    /// Everything that is known so far. It comes after each trace that was analysed and after each
    /// execution, so whatever was confirmed since the last one is new.
    Known(Box<R>),
}

/// Hears the news of a campaign. A listener that breaks off ends the campaign, whose results are then
/// those that are known.
pub type Listener<'a, R> = &'a dyn Fn(News<R>) -> ControlFlow<()>;

/// How far a campaign has come.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What it does at present.
    pub phase: Phase,
    /// Number of executions so far.
    pub executions: usize,
    /// Number of candidates that are left in this round.
    pub left: usize,
    /// Number of confirmed findings.
    pub confirmed: usize,
}

/// The phase of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It executes the program for the first time.
    Recording,
    /// It searches for candidates.
    Predicting,
    /// It executes the program without a prediction.
    Exploring,
    /// It makes attempts.
    Trying,
}

impl Stage {
    /// The first stage of a campaign.
    pub(crate) fn recording() -> Stage {
        Stage { phase: Phase::Recording, executions: 0, left: 0, confirmed: 0 }
    }
}
