//! What came of a run that followed a schedule: whether it could, and what it led to.

mod explanation;

use serde::{Deserialize, Serialize};

use crate::{Class, Location, ThreadName};

pub use self::explanation::{CONSEQUENCES, VERDICTS};

/// Whether a schedule was followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// To its end, or until the program ended: the number of segments.
    Followed(u32),
    /// A thread came to another event than the expected one.
    Diverged(Departure),
    /// A thread that the schedule names could not go on.
    Infeasible(Departure),
}

impl Verdict {
    /// Its name in JSON and for `norn explain`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Followed(_) => "followed",
            Verdict::Diverged(_) => "diverged",
            Verdict::Infeasible(_) => "infeasible",
        }
    }
}

/// Where a schedule was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// In which segment, from 0.
    pub segment: u32,
    /// With which thread.
    pub thread: ThreadName,
    /// Why.
    pub why: Obstacle,
    /// What it came to instead, if it came to anything.
    pub actual: Option<Arrival>,
}

/// Why a thread that the schedule names could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Obstacle {
    /// It was blocked.
    Blocked,
    /// It had ended.
    Ended,
    /// It was never created.
    Absent,
    /// It spun.
    Spins,
    /// It was in a system call, or in code that is not instrumented.
    Away,
    /// It came to another event.
    OtherEvent,
    /// For a reason that this version does not know of.
    Unknown,
}

/// An event that a thread came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Which of its events, from 0.
    pub index: u64,
    /// What it is about, by its name.
    pub class: String,
    /// Where in the code.
    pub pc: u64,
    /// On what.
    pub object: u64,
}

impl Arrival {
    /// An event of a class.
    pub fn new(index: u64, class: Class, pc: u64, object: u64) -> Arrival {
        Arrival { index, class: class.name().to_owned(), pc, object }
    }
}

/// What a run led to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Consequence {
    /// The program ended well.
    #[default]
    None,
    /// It ended with an error status.
    Exit(i32),
    /// It died by a signal, at a place in its code.
    Signal {
        /// Which.
        signal: i32,
        /// Where, as much of it as is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Location>,
    },
    /// An assertion failed; its text.
    Assertion(String),
    /// An exception was not caught.
    Exception {
        /// Its type.
        class: String,
        /// What it says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
    },
    /// It aborted.
    Abort,
    /// It used memory that it must not use.
    Memory(MemoryFault),
    /// No thread could ever go on.
    Deadlock,
    /// Every thread that could go on spun, and none changed what the others read.
    Livelock,
    /// It did not end.
    Hang(Limit),
    /// It ended well, but a check of what it left did not; the status of the check.
    Check(i32),
}

/// How memory was used wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MemoryFault {
    /// A freed block was accessed.
    UseAfterFree,
    /// A block was freed twice.
    DoubleFree,
    /// Something was freed that is no heap block.
    BadFree,
    /// Memory next to a block was accessed.
    OutOfBounds,
    /// A synchronisation object was used after it was destroyed.
    UseAfterDestroy,
}

/// The limit that a run without an end exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Limit {
    /// A number of events.
    Steps(u64),
    /// A number of seconds.
    Seconds(u64),
}

impl MemoryFault {
    /// All faults.
    pub const ALL: [MemoryFault; 5] = [
        MemoryFault::UseAfterFree,
        MemoryFault::DoubleFree,
        MemoryFault::BadFree,
        MemoryFault::OutOfBounds,
        MemoryFault::UseAfterDestroy,
    ];

    /// Its name in JSON and for `norn explain`.
    pub fn name(self) -> &'static str {
        match self {
            MemoryFault::UseAfterFree => "use-after-free",
            MemoryFault::DoubleFree => "double-free",
            MemoryFault::BadFree => "bad-free",
            MemoryFault::OutOfBounds => "out-of-bounds",
            MemoryFault::UseAfterDestroy => "use-after-destroy",
        }
    }
}

impl Consequence {
    /// Its name in JSON and for `norn explain`.
    pub fn name(&self) -> &'static str {
        match self {
            Consequence::None => "none",
            Consequence::Exit(_) => "exit",
            Consequence::Signal { .. } => "signal",
            Consequence::Assertion(_) => "assertion",
            Consequence::Exception { .. } => "exception",
            Consequence::Abort => "abort",
            Consequence::Memory(_) => "memory",
            Consequence::Deadlock => "deadlock",
            Consequence::Livelock => "livelock",
            Consequence::Hang(_) => "hang",
            Consequence::Check(_) => "check",
        }
    }

    /// Whether a person would call it a failure.
    pub fn is_failure(&self) -> bool {
        *self != Consequence::None
    }

    /// Whether two runs, perhaps of builds in different folders, led to the same. A place counts
    /// where both are known.
    pub fn is_same(&self, other: &Consequence) -> bool {
        match (self, other) {
            (
                Consequence::Signal { signal, at },
                Consequence::Signal { signal: same, at: there },
            ) => {
                let places = at.as_ref().zip(there.as_ref());
                signal == same && places.is_none_or(|(at, there)| at.is_same_line(there))
            }
            _ => self == other,
        }
    }
}
