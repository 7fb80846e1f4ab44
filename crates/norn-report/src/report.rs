//! What one command found, as a plain value.

mod batch;
mod event;
mod finding;
mod fix;
mod line;
mod localization;
mod note;
mod number;
mod omission;
mod property;
mod reproduction;
mod run;
mod story;
mod summary;
mod suppression;
mod switch;
mod texts;
mod wait;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    batch::{Batch, Parting, Print, RunKind},
    event::{EventRow, Interleaving},
    finding::{
        Access, AlsoSeen, AtStake, AtomicOperation, BriefLine, BriefSection, Cause, Detail,
        Finding, Harm, HeldLock, Object, ObservedFailure, Parameter, Remark, Schedule, Status,
        Turn, Unordered, UnrecordedOrder, UnrecordedSync, WeakOperation,
    },
    fix::{Fix, FixSection, LockObjection, RejectedLock},
    line::{Line, Progress, Start, Unpredicted, Update},
    localization::{
        CauseExperiment, FailureCluster, Localization, PredictedRuns, RankedPattern, ScoreInterval,
    },
    note::Note,
    number::{Address, Number},
    omission::Omissions,
    property::{LeftOut, Property, Unseen, UnseenReason},
    reproduction::{Claimed, NotReproduced, Uncontrolled},
    run::{
        Arrival, Control, Departure, Detour, Inputs, InputsDiverged, Point, Requested, Run, Verdict,
    },
    story::{
        Block, Death, EarlierUse, FailureKind, Fault, Misuse, ObjectMisuse, ObjectState,
        ObservedValue, Runner, Running, Step, Story, Stuck, Writing,
    },
    summary::{Ended, ExitMeaning, ExitStatus, Summary},
    suppression::{SuppressedBy, Suppression},
    switch::Switch,
    wait::{Barrier, Holder, Notice, Semaphore, SentSignal, SignalWait, Waiter, Wakeup, Want},
};
use crate::SCHEMA;

/// What one command found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Version of this format.
    pub schema: u32,
    /// The program that wrote the report.
    pub tool: Tool,
    /// The command that was given.
    pub command: Command,
    /// Command line of the program under test.
    pub program: Vec<String>,
    /// The recorded run that everything else was predicted from (hunt, check, predict), or the one
    /// run that the command made (run, replay).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// What came of many runs (`--times`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// Which interleaving patterns separate failing from passing runs (localize).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localization: Option<Localization>,
    /// All candidates and what came of them, the worst first.
    pub findings: Vec<Finding>,
    /// The findings that a reader is shown in full, in their order: one of each bug.
    pub details: Vec<Detail>,
    /// The findings that a reader is shown in one line each.
    pub brief: Vec<BriefSection>,
    /// Failures that happened without having been predicted.
    pub observed: Vec<ObservedFailure>,
    /// The properties of the user, and what was seen of each.
    pub properties: Vec<Property>,
    /// What a reader must know to judge the results.
    pub notes: Vec<Note>,
    /// What the search did not look at.
    pub not_looked_at: Omissions,
    /// Lines of suppression files, and how many findings each suppressed.
    pub suppressions: Vec<Suppression>,
    /// Counts.
    pub summary: Summary,
    /// How the command ended.
    pub exit: ExitStatus,
}

impl Report {
    /// An empty report of a command.
    pub fn new(command: Command, version: &str) -> Report {
        Report {
            schema: SCHEMA,
            tool: Tool { name: "norn".to_owned(), version: version.to_owned() },
            command,
            program: Vec::new(),
            run: None,
            batch: None,
            localization: None,
            findings: Vec::new(),
            details: Vec::new(),
            brief: Vec::new(),
            observed: Vec::new(),
            properties: Vec::new(),
            notes: Vec::new(),
            not_looked_at: Omissions::default(),
            suppressions: Vec::new(),
            summary: Summary::default(),
            exit: ExitStatus::default(),
        }
    }
}

/// The program that wrote a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Its name: `norn`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The commands that write reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// `norn hunt`.
    Hunt,
    /// `norn check`.
    Check,
    /// `norn predict`.
    Predict,
    /// `norn predict --property`.
    PredictProperty,
    /// `norn run`.
    Run,
    /// `norn replay`.
    Replay,
    /// `norn localize`.
    Localize,
}
