//! Why a campaign cannot go on.

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
