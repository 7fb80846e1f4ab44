//! The plan of a controlled run: who chooses the next thread, and how.

use std::{collections::BTreeMap, sync::Arc};

use norn_model::{OsText, Schedule};
use norn_trace::{MemoryModel, Strategy};
use serde::{Deserialize, Serialize};

use crate::Inputs;

/// The label of the program itself among the modules of a schedule.
pub const PROGRAM: &str = "program";

/// The plan of a controlled run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Chooses the next thread.
    pub strategy: Strategy,
    /// Seeds all random choices.
    pub seed: u64,
    /// For priorities: the number of ordering constraints that a bug needs, at most.
    pub depth: u32,
    /// The length of a turn in events; 0 lets the strategy choose.
    pub quantum: u32,
    /// For priorities: the approximate number of events of the program.
    pub expected: u64,
    /// The number of events after which the run counts as hanging.
    pub max_steps: u64,
    /// The time at the start.
    pub clock: Clock,
    /// The process that follows the schedule, counted as processes appear, from 0.
    pub process: u32,
    /// Whether a program that is stuck is left so, for a debugger to look at.
    pub linger: bool,
    /// Decides when waits expire while a schedule is followed.
    pub timeouts: Timeouts,
    /// Decides which stores atomic loads may return.
    pub memory: MemoryModel,
    /// Decides what follows the end of a schedule.
    pub after: After,
    /// What [`Strategy::Follow`] follows.
    #[serde(with = "shared")]
    pub guide: Option<Arc<Guide>>,
}

/// A schedule, and what is needed to follow it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guide {
    /// The schedule.
    pub schedule: Schedule,
    /// The modules in which it has points, by the labels that it uses.
    pub modules: BTreeMap<String, ModuleRef>,
    /// Inputs that are fed back.
    pub inputs: Option<Inputs>,
}

/// A module in which a schedule has points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleRef {
    /// Its file; none for the program that the command starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<OsText>,
    /// Identifies the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// The time at the start of a run, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The time of day.
    pub realtime: u64,
    /// All other clocks.
    pub monotonic: u64,
}

/// The same in every run unless a user wants otherwise, so that two runs with the same seed are the
/// same: the beginning of 2026, an hour after the machine was started.
impl Default for Clock {
    fn default() -> Self {
        const SECOND: u64 = 1_000_000_000;
        Clock { realtime: 1_767_225_600 * SECOND, monotonic: 3600 * SECOND }
    }
}

/// Decides when waits expire while a schedule is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timeouts {
    /// The clock; and the wait of a thread whose turn it is expires at once.
    #[default]
    ByClock,
    /// The schedule alone, which lists all of them.
    Listed,
}

impl Timeouts {
    /// Whether this is the default, which files leave out.
    pub fn is_default(&self) -> bool {
        *self == Timeouts::ByClock
    }
}

/// Decides what follows the end of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// The threads continue in turn.
    #[default]
    Fair,
    /// The operating system schedules them.
    Free,
    /// The program is ended.
    Stop,
}

/// A shared guide in a file is a guide: the file does not know with whom it was shared.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Guide;

    #[expect(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        guide: &Option<Arc<Guide>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        guide.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<Guide>>, D::Error> {
        Ok(Option::<Guide>::deserialize(deserializer)?.map(Arc::new))
    }
}
