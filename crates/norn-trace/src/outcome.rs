//! The result of a controlled run, in which the runtime scheduled the threads, as stored in
//! `run.json`.

use norn_abi::control::{follow, memory, strategy, verdict, why};
use serde::{Deserialize, Serialize};

use crate::Fed;

/// The settings of a controlled run and its result.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Controlled {
    /// The scheduling strategy.
    pub strategy: Strategy,
    /// The seed of all random decisions.
    pub seed: u64,
    /// For priorities: the bug depth, that is the maximum number of ordering constraints of a bug.
    pub depth: u32,
    /// Number of events per turn; see [`norn_abi::control::Plan::quantum`].
    pub quantum: u32,
    /// The expected number of events.
    pub expected: u64,
    /// The process that followed the schedule, if there was one.
    #[serde(default)]
    pub process: u32,
    /// The number of events after which the run ended as not finished.
    pub max_steps: u64,
    /// The initial real-time clock, in nanoseconds since the epoch.
    pub realtime: u64,
    /// The initial value of all other clocks, in nanoseconds.
    pub monotonic: u64,
    /// Which stores atomic loads may return.
    #[serde(default, skip_serializing_if = "MemoryModel::is_default")]
    pub memory: MemoryModel,
    /// Whether the memory layout of the subject was the standard one of controlled runs.
    pub same_layout: bool,
    /// The result.
    pub outcome: Outcome,
}

/// The result of a controlled run, as the runtime observed it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Outcome {
    /// The failure that was detected.
    pub found: Found,
    /// The number of the thread that the failure is about.
    pub thread: u32,
    /// The number of the process that the failure is about.
    pub process: u32,
    /// How far the schedule was followed.
    pub follow: Follow,
    /// Number of segments that were followed to their ends.
    pub segments: u32,
    /// The thread that left the schedule.
    pub left: Option<Left>,
    /// The memory error, or the misused object.
    pub memory: Option<MemoryError>,
    /// The fatal signal.
    pub signal: Option<Signal>,
    /// Number of events of all threads.
    pub steps: u64,
    /// Number of context switches.
    pub switches: u64,
    /// How often a thread was in uninstrumented code, or waited for another process, while other
    /// threads could run.
    pub away: u64,
    /// How often the program read input that is not controlled.
    pub inputs: u64,
    /// How many atomic loads returned an older store than the newest one.
    #[serde(default)]
    pub older: u64,
    /// How often the program asked for the id of a process, which differs from run to run.
    #[serde(default)]
    pub process_ids: u64,
    /// The message of the failed assertion.
    pub text: Option<String>,
    /// Statistics of recorded and replayed inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fed: Option<Fed>,
}

impl Outcome {
    /// Whether the runtime detected a failure.
    pub fn is_failure(&self) -> bool {
        !matches!(self.found, Found::None | Found::Stopped)
            || self.signal.is_some()
            || self.text.is_some()
    }
}

/// The thread that left a schedule.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub thread: u32,
    /// Why it could not continue.
    pub why: Why,
    /// The kind of the event that it reached.
    pub kind: u16,
    /// The code location of that event.
    pub pc: u64,
    /// The object of that event.
    pub object: u64,
    /// The index of that event among those of the thread.
    pub index: u64,
}

/// A memory error.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct MemoryError {
    /// The code location.
    pub pc: u64,
    /// The address of the invalid access.
    pub addr: u64,
    /// The heap block of the invalid access.
    pub block: u64,
}

/// The signal that killed a program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// The number of the thread that received it.
    pub thread: u32,
    /// The code location.
    pub pc: u64,
    /// The address of the faulting access.
    pub addr: u64,
}

/// Declares an enum for the numbers of [`norn_abi::control`]; an unknown number becomes the first
/// variant.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $code:path,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            #[default]
            $($(#[$about])* $variant,)*
        }

        impl $name {
            /// From the runtime's number.
            pub fn from_code(code: u32) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    _ => Self::default(),
                }
            }

            /// The runtime's number.
            pub fn code(self) -> u32 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}

macro_rules! strategy_names {
    ($($variant:ident, $constant:ident = $code:literal, $name:literal, $about:literal;)*) => {
        names! {
            /// The scheduling strategy.
            Strategy {
                $(#[doc = $about] $variant = strategy::$constant,)*
            }
        }
    };
}

norn_abi::strategies!(strategy_names);

names! {
    /// Which stores atomic loads may return.
    MemoryModel {
        /// The newest one.
        Sequential = memory::SEQUENTIAL,
        /// Those that C++20 allows.
        C11 = memory::C11,
    }
}

impl MemoryModel {
    /// Whether this is the default, which files leave out.
    pub fn is_default(&self) -> bool {
        *self == MemoryModel::Sequential
    }
}

names! {
    /// The failure that was detected.
    Found {
        /// Nothing.
        None = verdict::NONE,
        /// No thread could ever continue.
        Deadlock = verdict::DEADLOCK,
        /// All threads that could continue spun.
        Livelock = verdict::LIVELOCK,
        /// The run exceeded the maximum number of events.
        Steps = verdict::STEPS,
        /// A freed block was accessed.
        UseAfterFree = verdict::USE_AFTER_FREE,
        /// A block was freed twice.
        DoubleFree = verdict::DOUBLE_FREE,
        /// An address was freed at which no block begins.
        BadFree = verdict::BAD_FREE,
        /// Memory next to a block was accessed.
        OutOfBounds = verdict::OUT_OF_BOUNDS,
        /// Nothing: the run was stopped at the end of the schedule.
        Stopped = verdict::STOPPED,
        /// A synchronization object was used after it was destroyed.
        UseAfterDestroy = verdict::USE_AFTER_DESTROY,
        /// A thread released a lock that it did not hold.
        UnlockNotHeld = verdict::UNLOCK_NOT_HELD,
        /// A thread waited on a condition variable with a mutex that it did not hold.
        WaitNotHeld = verdict::WAIT_NOT_HELD,
        /// A thread waited for a lock that it held itself.
        Relock = verdict::RELOCK,
        /// An object was destroyed while a thread held it or waited on it.
        DestroyInUse = verdict::DESTROY_IN_USE,
        /// A thread ended while it held a lock.
        EndHoldingLock = verdict::END_HOLDING_LOCK,
        /// A descriptor was used after another thread had closed it.
        UseAfterClose = verdict::USE_AFTER_CLOSE,
        /// A descriptor was closed after another thread had closed it.
        DoubleClose = verdict::DOUBLE_CLOSE,
        /// A descriptor was closed while another thread was in a call on it.
        CloseInUse = verdict::CLOSE_IN_USE,
    }
}

names! {
    /// How far a schedule was followed.
    Follow {
        /// There was no schedule.
        None = follow::NONE,
        /// The run ended before the schedule did.
        Going = follow::GOING,
        /// It was followed to its end.
        Done = follow::DONE,
        /// A thread reached another event than the expected one.
        Diverged = follow::DIVERGED,
        /// A thread that was due could not continue.
        Infeasible = follow::INFEASIBLE,
    }
}

names! {
    /// Why a thread that was due could not continue.
    Why {
        /// The reason is unknown to this version.
        Unknown = UNKNOWN,
        /// It was blocked.
        Blocked = why::BLOCKED,
        /// It had ended.
        Ended = why::ENDED,
        /// It was never created.
        Absent = why::ABSENT,
        /// It was spinning.
        Spins = why::SPINS,
        /// It was in a system call or in uninstrumented code.
        Away = why::AWAY,
        /// It reached another event.
        OtherEvent = why::OTHER_EVENT,
    }
}

const UNKNOWN: u32 = 0;

#[cfg(test)]
mod tests {
    use norn_abi::control::StrategyKind;

    use super::*;

    #[test]
    fn strategies_are_written_by_their_names() {
        for kind in StrategyKind::ALL {
            let strategy = Strategy::from_code(kind.code());
            assert_eq!(serde_json::to_value(strategy).unwrap(), kind.name());
            assert_eq!(strategy.code(), kind.code());
        }
    }
}
