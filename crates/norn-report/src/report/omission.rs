//! What a search did not look at.

use norn_model::ThreadName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the search did not look at. All zero and empty if it looked at everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Omissions {
    /// Events at the end of a long run.
    pub events: u64,
    /// Accesses to large blocks of which only some bytes were looked at.
    pub sampled: u64,
    /// Pairs of variables, at places that use too many variables.
    pub variable_pairs: u64,
    /// Places that request locks, from which not all deadlocks were searched.
    pub lock_requests: u64,
    /// Patterns of which not all matches were searched.
    pub patterns: Vec<String>,
    /// Threads whose accesses were not looked at.
    pub threads: Vec<ThreadName>,
    /// Variables that the user named and that were never accessed.
    pub names: Vec<String>,
    /// Functions that the user named and whose calls could not be recorded.
    pub functions: u64,
}

impl Omissions {
    /// Whether everything was looked at.
    pub fn is_empty(&self) -> bool {
        *self == Omissions::default()
    }
}
