//! Why a campaign cannot go on.

use std::io;

use norn_frontend::FrontEndError;
use norn_replay::ReplayError;
use norn_store::StoreError;
use thiserror::Error;

/// Why a campaign cannot go on.
#[derive(Debug, Error)]
pub enum CampaignError {
    /// The program cannot be run.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The program cannot be started, or cannot follow a schedule.
    #[error(transparent)]
    FrontEnd(#[from] FrontEndError),
    /// The files of an execution cannot be read or written.
    #[error("cannot read or write the files of an execution: {0}")]
    Files(#[source] io::Error),
    /// The user has ended the hunt while it waited for an execution.
    #[error("ended before the execution was made")]
    Ended,
    /// The store has JSON that no campaign writes.
    #[error("the store is damaged: {0}")]
    Json(#[from] serde_json::Error),
    /// The store has a pattern that does not exist.
    #[error("the store is damaged: a pattern has an unknown shape")]
    Shape,
    /// The store has a regular expression that cannot be parsed.
    #[error("the store is damaged: {0}")]
    Regex(#[from] regex::Error),
}
