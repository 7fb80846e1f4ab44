//! What the runtime found in a run in which it decided which thread goes next: as it is in
//! `run.json`.

use norn_abi::control::{follow, strategy, verdict, why};
use serde::{Deserialize, Serialize};

use crate::Fed;

/// How the threads of a run were chosen, and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Controlled {
    /// How the next thread was chosen.
    pub strategy: Strategy,
    /// What fed everything that was random.
    pub seed: u64,
    /// For priorities: how many orders of events a bug needs, at most.
    pub depth: u32,
    /// Events of a turn; see [`norn_abi::control::Plan::quantum`].
    pub quantum: u32,
    /// How many events were expected.
    pub expected: u64,
    /// The process that followed the schedule, if there was one.
    #[serde(default)]
    pub process: u32,
    /// Events after which the run counted as hanging.
    pub max_steps: u64,
    /// What the clock of the time of day said at the start, in nanoseconds.
    pub realtime: u64,
    /// What all other clocks said at the start, in nanoseconds.
    pub monotonic: u64,
    /// Whether the subject's memory was laid out as in every such run.
    pub same_layout: bool,
    /// What came of it.
    pub outcome: Outcome,
}

/// What the runtime found.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Outcome {
    /// What is wrong with the program.
    pub found: Found,
    /// The number of the thread that it is about.
    pub thread: u32,
    /// The number of the process that it is about.
    pub process: u32,
    /// How the schedule was followed.
    pub follow: Follow,
    /// Segments that were followed to their ends.
    pub segments: u32,
    /// The thread with which the schedule was left.
    pub left: Option<Left>,
    /// The memory error.
    pub memory: Option<MemoryError>,
    /// The signal by which the program died.
    pub signal: Option<Signal>,
    /// Events of all threads.
    pub steps: u64,
    /// How often another thread had the turn.
    pub switches: u64,
    /// How often a thread was in code that we do not see, or waited for another process, while
    /// others could go on.
    pub away: u64,
    /// How often the program asked for input that is not controlled.
    pub inputs: u64,
    /// The text of the assertion that failed.
    pub text: Option<String>,
    /// What was kept of what came from outside, and fed back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fed: Option<Fed>,
}

impl Outcome {
    /// Whether the runtime saw the program fail.
    pub fn is_failure(&self) -> bool {
        !matches!(self.found, Found::None | Found::Stopped)
            || self.signal.is_some()
            || self.text.is_some()
    }
}

/// The thread with which a schedule was left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub thread: u32,
    /// Why it could not go on.
    pub why: Why,
    /// The kind of the event that it came to.
    pub kind: u16,
    /// Where that is.
    pub pc: u64,
    /// On what.
    pub object: u64,
    /// Which of its events that is.
    pub index: u64,
}

/// A memory error.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct MemoryError {
    /// Where in the code.
    pub pc: u64,
    /// Which address it is about.
    pub addr: u64,
    /// The block that it is about.
    pub block: u64,
}

/// The signal by which a program died.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// The number of the thread that it hit.
    pub thread: u32,
    /// Where that was.
    pub pc: u64,
    /// The address that could not be accessed.
    pub addr: u64,
}

/// A closed set of names for the numbers of [`norn_abi::control`]; a number that is none of them is
/// the first.
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
            /// How the next thread is chosen.
            Strategy {
                $(#[doc = $about] $variant = strategy::$constant,)*
            }
        }
    };
}

norn_abi::strategies!(strategy_names);

names! {
    /// What is wrong with the program.
    Found {
        /// Nothing.
        None = verdict::NONE,
        /// Nobody can ever go on.
        Deadlock = verdict::DEADLOCK,
        /// Whoever can go on spins.
        Livelock = verdict::LIVELOCK,
        /// There were too many events.
        Steps = verdict::STEPS,
        /// A freed block was accessed.
        UseAfterFree = verdict::USE_AFTER_FREE,
        /// A block was freed twice.
        DoubleFree = verdict::DOUBLE_FREE,
        /// Something was freed that is no block.
        BadFree = verdict::BAD_FREE,
        /// Memory next to a block was accessed.
        OutOfBounds = verdict::OUT_OF_BOUNDS,
        /// Nothing: the schedule was at its end, and so was the run.
        Stopped = verdict::STOPPED,
        /// A lock or the like was used after it was destroyed.
        UseAfterDestroy = verdict::USE_AFTER_DESTROY,
    }
}

names! {
    /// How a schedule was followed.
    Follow {
        /// There was none.
        None = follow::NONE,
        /// The run ended before the schedule did.
        Going = follow::GOING,
        /// To its end.
        Done = follow::DONE,
        /// A thread came to another event than the expected one.
        Diverged = follow::DIVERGED,
        /// A thread that was due could not go on.
        Infeasible = follow::INFEASIBLE,
    }
}

names! {
    /// Why a thread that was due could not go on.
    Why {
        /// For a reason that this version does not know.
        Unknown = UNKNOWN,
        /// It was blocked.
        Blocked = why::BLOCKED,
        /// It had ended.
        Ended = why::ENDED,
        /// It was never created.
        Absent = why::ABSENT,
        /// It spun.
        Spins = why::SPINS,
        /// It was in a system call, or in code that we do not see.
        Away = why::AWAY,
        /// It came to another event.
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
