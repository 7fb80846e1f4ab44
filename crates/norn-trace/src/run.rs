//! The description of a run: what was executed, how, and how it ended.

use norn_model::{Order, OsText};
use serde::{Deserialize, Serialize};

use crate::{Collected, Controlled};

/// Everything about a run that is not an event.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Run {
    /// Version of the folder's layout and of the chunks in it.
    pub format: u32,
    /// Version of the tool that wrote it.
    pub norn: String,
    /// The command and its arguments.
    pub command: Vec<OsText>,
    /// The folder in which it was run.
    pub directory: OsText,
    /// Which order was recorded.
    pub order: Order,
    /// Whether the values of memory accesses were recorded.
    pub values: bool,
    /// Whether the recorder saw the end of the run. If not, the recorder was killed.
    pub complete: bool,
    /// Why recording stopped before the run ended.
    pub stopped: Option<Stop>,
    /// The processes, in the order in which they appeared.
    pub processes: Vec<Process>,
    /// Number of processes that could not be recorded, because there were too many.
    #[serde(default)]
    pub unrecorded_processes: u64,
    /// Number of threads, and of signal handler runs, that could not be recorded, because there
    /// were too many at once.
    pub unrecorded_threads: u64,
    /// Number of events of threads after their end.
    pub late_events: u64,
    /// The settings and the result of a controlled run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controlled: Option<Controlled>,
    /// The patterns that the runtime collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected: Option<Collected>,
    /// The functions whose calls were requested to be recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<WantedFunctions>,
    /// Number of functions and imports of these that could not be patched.
    #[serde(default, skip_serializing_if = "is_none")]
    pub refused_functions: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Functions whose calls were requested to be recorded.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct WantedFunctions {
    /// A pattern for their names.
    pub pattern: String,
    /// Number of functions and imports that matched.
    pub found: u64,
    /// Whether any of them was inlined: such calls are not recorded.
    pub inlined: bool,
    /// Number of functions that have no padding for patching at their entry, and are not recorded.
    #[serde(default)]
    pub rigid: u64,
    /// The closest function name, if no function has this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<String>,
    /// Parameters that are not passed in registers: the compiler has optimized them away, or they
    /// are not integers or pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneParameter>,
}

/// A parameter whose values are not recorded.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoneParameter {
    /// The function.
    pub function: String,
    /// The index of the parameter, from 0.
    pub position: usize,
    /// The name of the parameter.
    pub name: String,
}

impl Run {
    /// The default process of interest: the first of those with the most threads. Shells and other
    /// helpers come before it.
    pub fn busiest(&self) -> u32 {
        let busiest = self.processes.iter().rev().max_by_key(|it| it.threads);
        busiest.map_or(0, |it| it.number)
    }
}

/// The premature end of a recording.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Stop {
    /// The reason.
    pub why: StopReason,
    /// The last sequence number up to which all threads were recorded.
    pub seq: u64,
}

/// Why recording stopped.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// The trace had reached its maximum size.
    Size,
    /// The disk was full or broken.
    Disk,
}

/// One process of a run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Process {
    /// Its number in this run, from 0.
    pub number: u32,
    /// Its process id.
    pub pid: u32,
    /// The number of the process that forked it; its own number for the first.
    pub parent: u32,
    /// How it ended.
    pub end: End,
    /// Number of its threads.
    #[serde(default)]
    pub threads: u32,
    /// Number of events that its threads could not record.
    pub lost: u64,
    /// The threads that were blocked when it ended.
    pub blocked: Vec<Blocked>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// With an exit status.
    Exited(i32),
    /// Killed by a signal.
    Signaled(i32),
    /// It executed another program.
    Exec,
    /// It has ended, but the recorder was not its parent and could not wait for it.
    Unknown,
}

/// A thread that was inside a blocking operation when its process ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Blocked {
    /// Its number.
    pub thread: u32,
    /// The kind of operation, as in events.
    pub kind: u16,
    /// The object of the operation.
    pub object: u64,
    /// The call site of the operation.
    pub pc: u64,
}
