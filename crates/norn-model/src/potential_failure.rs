//! The places where a program can visibly fail, and the reads that decide whether it does.

use serde::{Deserialize, Serialize};

/// What happens at a potential failure site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PotentialFailureKind {
    /// An assertion fails, or the program aborts, throws or panics.
    Assertion,
    /// An error is reported, or the program exits with a status that is not zero.
    ErrorMessage,
    /// Something is printed or written.
    Output,
    /// A loop ends only if a read sees another value.
    Loop,
    /// Memory is accessed through a pointer or an index, a number is divided by, or memory is freed.
    Access,
    /// Something that held in all passing runs does not hold.
    Invariant,
    /// Memory is freed by a thread that would otherwise not free it: possibly a second time.
    Free,
}

/// A place where a program can visibly fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PotentialFailure {
    /// What happens there.
    pub kind: PotentialFailureKind,
    /// The instruction, in the numbering of the trace's sites: the address behind it, as for a call.
    pub pc: u64,
    /// The reads that decide whether it fails, nearest first.
    pub reads: Vec<CriticalRead>,
}

/// A read on which a failure site depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalRead {
    /// The site of its events: the return address of the hook's call.
    pub pc: u64,
    /// The number of dependence steps from the failure site back to the read.
    pub distance: u32,
    /// The instructions on the way, from the failure site to the read, in the same numbering.
    pub chain: Vec<u64>,
}
