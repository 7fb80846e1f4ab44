//! One run of the program.

use norn_model::{Consequence, Location, Obstacle, ThreadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Address, Claimed, Object, Story};

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its events, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Its threads, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// What it led to.
    pub consequence: Consequence,
    /// How it came to fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// Whether it followed the schedule of the clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Segments that the schedule has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<usize>,
    /// Where it first did something else than the path of the clip says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detour: Option<Detour>,
    /// Whether the claim of the clip is true again, if the clip has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claimed>,
    /// How its threads were scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// Whether a debugger ended the program.
    pub ended_by_debugger: bool,
}

impl Run {
    /// A run of which only the consequence is known.
    pub fn new(consequence: Consequence) -> Run {
        Run {
            events: None,
            threads: None,
            consequence,
            story: None,
            verdict: None,
            segments: None,
            detour: None,
            claim: None,
            control: None,
            ended_by_debugger: false,
        }
    }
}

/// How the threads of a run were scheduled, and what may make another run differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// The strategy; `follow` is a clip.
    pub strategy: String,
    /// The seed of everything random.
    pub seed: u64,
    /// How often another thread got the turn.
    pub switches: u64,
    /// How often other threads ran while one was in code that is not instrumented.
    pub away: u64,
    /// How many atomic loads returned an older value than the newest, as the memory model of C++ allows.
    pub older: u64,
    /// How often the program asked for the id of a process, which differs from run to run.
    pub process_ids: u64,
    /// Whether the memory layout is the same in every run.
    pub same_layout: bool,
    /// Inputs from outside of the program.
    pub inputs: Inputs,
}

/// Inputs from outside of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inputs {
    /// Reads of inputs that are not controlled.
    pub uncontrolled: u64,
    /// Inputs that were recorded.
    pub recorded: u64,
    /// Inputs for which there was no room.
    pub lost: u64,
    /// Inputs that were fed back.
    pub fed: u64,
    /// Inputs that the clip has.
    pub available: u64,
    /// Where the program first asked for other inputs than those of the clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<InputsDiverged>,
}

/// Where the program first asked for other inputs than those of the clip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputsDiverged {
    /// The thread, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Which of its inputs, from 0.
    pub input: u64,
    /// What the clip has; nothing if it has no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Requested>,
    /// What the program asked for; nothing if it did not ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Requested>,
}

/// A request for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requested {
    /// The call.
    pub call: String,
    /// The file descriptor, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<i64>,
    /// How much was asked for.
    pub asked: u64,
}

/// Whether a run followed its schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It followed this many segments, to the end of the schedule or of the program.
    Followed(u32),
    /// A thread came to another event than the expected one.
    Diverged(Departure),
    /// A thread that had the turn could not continue.
    Infeasible(Departure),
}

/// Where a run left its schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Departure {
    /// The segment of the schedule, from 0.
    pub segment: u32,
    /// The thread that had the turn.
    pub thread: ThreadName,
    /// Why it could not do what the schedule says.
    pub why: Obstacle,
    /// How far the schedule lets the thread run, in the notation of clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The event that it came to, if it came to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Arrival>,
    /// The event before, which was as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Arrival>,
}

/// An event that a thread came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arrival {
    /// Which of the thread's events, from 0.
    pub event: u64,
    /// The operation, in the notation of clips.
    pub operation: String,
    /// What it is done to, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Object>,
    /// Where in the source, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Location>,
    /// The address of the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Address>,
}

/// Where a run first did something else than the path of its clip says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detour {
    /// The thread.
    pub thread: ThreadName,
    /// The first of its events that is not as expected, from 0.
    pub event: u64,
    /// The expected event.
    pub expected: Point,
    /// The event that happened.
    pub actual: Point,
    /// The event before, which was as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Point>,
    /// The event with which the thread came back to the path, if it did. If that is the first one
    /// that is not as expected, the thread only skipped something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<u64>,
}

/// An operation at a place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The operation, in the notation of clips.
    pub operation: String,
    /// Where.
    pub at: Location,
}

impl From<&norn_model::Verdict> for Verdict {
    fn from(verdict: &norn_model::Verdict) -> Verdict {
        match verdict {
            norn_model::Verdict::Followed(segments) => Verdict::Followed(*segments),
            norn_model::Verdict::Diverged(it) => Verdict::Diverged(it.into()),
            norn_model::Verdict::Infeasible(it) => Verdict::Infeasible(it.into()),
        }
    }
}

/// Without the names of what the thread came to, which only the trace has.
impl From<&norn_model::Departure> for Departure {
    fn from(departure: &norn_model::Departure) -> Departure {
        Departure {
            segment: departure.segment,
            thread: departure.thread.clone(),
            why: departure.why,
            until: None,
            actual: departure.actual.as_ref().map(Arrival::from),
            before: None,
        }
    }
}

impl From<&norn_model::Arrival> for Arrival {
    fn from(arrival: &norn_model::Arrival) -> Arrival {
        Arrival {
            event: arrival.index,
            operation: arrival.class.clone(),
            object: None,
            at: None,
            code: Some(Address(arrival.pc)),
        }
    }
}
