//! Replays of findings: whether the claim of a clip is true again, and why a finding is not
//! reproducible.

use norn_model::{BugClass, Consequence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Detour, Verdict};

/// What a clip claims besides a failure, and whether a replay shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claimed {
    /// The class of the bug.
    pub class: BugClass,
    /// The headline of the finding.
    pub title: String,
    /// Whether it is harmful even without a failure.
    pub harmful: bool,
    /// Whether it happened again.
    pub again: bool,
}

/// Why a finding is not reproducible: what a replay of its clip did instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotReproduced {
    /// What the replay led to.
    pub consequence: Consequence,
    /// Whether it followed the schedule, and if not, where it left it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Where it first did something else than the path of the clip says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detour: Option<Detour>,
    /// What Norn does not control in this program, and may be the cause.
    pub causes: Vec<Uncontrolled>,
}

/// What may differ between two runs with the same schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Uncontrolled {
    /// Inputs from outside of the program: the network, devices, other processes.
    Inputs,
    /// The program asked for other inputs than those of the clip.
    OtherInputs,
    /// Threads ran while another was in code that is not instrumented, which depends on real time.
    Time,
    /// Addresses in memory.
    Addresses,
    /// The ids of the process and of its parent, for which the program asked.
    ProcessIds,
}
