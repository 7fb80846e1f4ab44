//! Interleaving patterns that the runtime collected while the program ran.

use serde::{Deserialize, Serialize};

/// The patterns of a run, and what was not observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// Number of slots of each window.
    pub window: usize,
    /// The process whose patterns they are.
    pub process: u32,
    /// Each pattern once, in the order in which they occurred first.
    pub patterns: Vec<CollectedPattern>,
    /// Number of accesses that were not observed, because memory or patience ended.
    pub missed: u64,
    /// Number of accesses that are so long that only some of their bytes were looked at.
    pub sampled: u64,
    /// Number of accesses at frequent sites that were left out.
    #[serde(default)]
    pub left_out: u64,
    /// Number of processes that were not observed.
    pub other_processes: u64,
    /// The length of all random delays, in nanoseconds.
    pub delayed: u64,
}

/// A pattern, with its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectedPattern {
    /// Its shape: `R1-W2-W1`.
    pub shape: String,
    /// The address of the variable.
    pub addr: u64,
    /// Its accesses, in order.
    pub accesses: Vec<CollectedAccess>,
}

/// An access of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectedAccess {
    /// The number of the thread.
    pub thread: u32,
    /// Its place in the code.
    pub pc: u64,
}
