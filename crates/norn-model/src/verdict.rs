//! The result of a run that followed a schedule: verdict and consequence.

mod explanation;
mod misuse;

use serde::{Deserialize, Serialize};

use crate::{Class, Location, ThreadName};

pub use self::{
    explanation::{CONSEQUENCES, VERDICTS},
    misuse::Misuse,
};

/// Whether a run followed its schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// To the end of the schedule or of the program; the number of segments.
    Followed(u32),
    /// A thread reached another event than the expected one.
    Diverged(Departure),
    /// A thread that was due could not continue.
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

/// Where a run left its schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// The segment, from 0.
    pub segment: u32,
    /// The thread.
    pub thread: ThreadName,
    /// The reason.
    pub why: Obstacle,
    /// The event that it reached instead, if any.
    pub actual: Option<Arrival>,
}

/// Why a thread that was due could not continue.
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
    /// It was spinning.
    Spins,
    /// It was in a system call or in uninstrumented code.
    Away,
    /// It reached another event.
    OtherEvent,
    /// The reason is unknown to this version.
    Unknown,
}

/// An event that a thread reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Its index in the thread, from 0.
    pub index: u64,
    /// The name of its class.
    pub class: String,
    /// Its code location.
    pub pc: u64,
    /// Its object.
    pub object: u64,
}

impl Arrival {
    /// An event of a class.
    pub fn new(index: u64, class: Class, pc: u64, object: u64) -> Arrival {
        Arrival { index, class: class.name().to_owned(), pc, object }
    }
}

/// The consequence of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Consequence {
    /// The program ended normally.
    #[default]
    None,
    /// It ended with an error status.
    Exit(i32),
    /// A signal killed it, at a code location.
    Signal {
        /// The signal.
        signal: i32,
        /// The code location, as far as known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Location>,
    },
    /// An assertion failed; its message.
    Assertion(String),
    /// An exception was not caught.
    Exception {
        /// Its type.
        class: String,
        /// Its message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
    },
    /// A thread of a Rust program panicked, and the program failed.
    Panic {
        /// Its message.
        message: String,
        /// The code location, as far as known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Location>,
    },
    /// It aborted.
    Abort,
    /// It accessed memory incorrectly.
    Memory(MemoryFault),
    /// It misused a synchronisation object or a descriptor.
    Misuse(Misuse),
    /// No thread could ever continue.
    Deadlock,
    /// All threads that could continue spun, and none changed what the others read.
    Livelock,
    /// It did not finish within its limit. That is no failure: it shows nothing about the program.
    #[serde(alias = "hang")]
    Unfinished(Limit),
    /// It ended normally, but a check of its results failed; the status of the check.
    Check(i32),
}

/// The kinds of incorrect memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MemoryFault {
    /// A freed block was accessed.
    UseAfterFree,
    /// A block was freed twice.
    DoubleFree,
    /// An address was freed at which no heap block begins.
    BadFree,
    /// Memory next to a block was accessed.
    OutOfBounds,
    /// A synchronisation object was used after it was destroyed.
    UseAfterDestroy,
}

/// The limit that an unfinished run exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Limit {
    /// Number of events.
    Steps(u64),
    /// Number of seconds.
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
            Consequence::Panic { .. } => "panic",
            Consequence::Abort => "abort",
            Consequence::Memory(_) => "memory",
            Consequence::Misuse(_) => "misuse",
            Consequence::Deadlock => "deadlock",
            Consequence::Livelock => "livelock",
            Consequence::Unfinished(_) => "unfinished",
            Consequence::Check(_) => "check",
        }
    }

    /// Whether it is a failure.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Consequence::None | Consequence::Unfinished(_))
    }

    /// Whether the run exceeded its limit, so that nothing is known about its end.
    pub fn is_unfinished(&self) -> bool {
        matches!(self, Consequence::Unfinished(_))
    }

    /// Whether two runs, possibly of builds in different folders, had the same consequence.
    /// Locations are compared if both are known.
    pub fn is_same(&self, other: &Consequence) -> bool {
        match (self, other) {
            (
                Consequence::Signal { signal, at },
                Consequence::Signal { signal: same, at: there },
            ) => {
                let places = at.as_ref().zip(there.as_ref());
                signal == same && places.is_none_or(|(at, there)| at.is_same_line(there))
            }
            (
                Consequence::Panic { at: Some(at), .. },
                Consequence::Panic { at: Some(there), .. },
            ) => at.is_same_line(there),
            _ => self == other,
        }
    }
}
