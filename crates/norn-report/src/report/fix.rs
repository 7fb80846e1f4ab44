//! A suggested fix: a lock that would have excluded a failing order, and what was checked.

use norn_model::Location;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Object;

/// A critical section that excludes the failing order. Both claims hold for the synchronisation of the run that the finding
/// was predicted from, and were proved by the exact engine: that order is impossible with the lock, and so
/// is each deadlock that needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fix {
    /// The lock to hold. None stands for a new lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Object>,
    /// The lines that have to hold it; accesses that hold it already are not listed.
    pub sections: Vec<FixSection>,
    /// Where these lines acquire the lock themselves, which would acquire it twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acquired_inside: Vec<Location>,
    /// How often the run executes the lines.
    pub executions: usize,
    /// Number of events of the run.
    pub events: usize,
    /// Number of cycles of waiting threads that the lock is part of, all of them proved to be impossible.
    pub cycles: usize,
    /// Locks that seemed more suitable, and what is against them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedLock>,
}

/// Lines of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixSection {
    /// The first line.
    pub from: Location,
    /// The last line.
    pub to: u32,
    /// Whether it covers a loop around these lines, and not each pass on its own.
    pub loops: bool,
}

/// A lock that is not suggested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedLock {
    /// Which.
    pub lock: Object,
    /// Why not.
    pub why: LockObjection,
}

/// What is against a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LockObjection {
    /// The failing order would still be possible, or the exact engine does not decide it.
    NotExcluded,
    /// A deadlock would be possible, or the exact engine does not exclude it.
    Deadlock,
    /// Some executions of the lines hold the lock already, and others do not.
    HeldSometimes,
    /// The lines are not in one function.
    NoPlace,
}
