//! The description of a run: what was executed, how, and how it ended.

use norn_model::Order;
use serde::{Deserialize, Serialize};

use crate::Controlled;

/// Everything about a run that is not an event.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Run {
    /// Version of the folder's layout and of the chunks in it.
    pub format: u32,
    /// Version of the tool that wrote it.
    pub norn: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The folder in which it was run.
    pub directory: String,
    /// Which order was recorded.
    pub order: Order,
    /// Whether the values of memory accesses were kept.
    pub values: bool,
    /// Whether the recorder saw the end of the run. If not, it was killed itself.
    pub complete: bool,
    /// Why recording stopped before the run ended.
    pub stopped: Option<Stop>,
    /// The processes, in the order in which they appeared.
    pub processes: Vec<Process>,
    /// Processes that could not be recorded, because there were too many.
    #[serde(default)]
    pub unrecorded_processes: u64,
    /// Threads, and runs of signal handlers, that could not be recorded, because there were too
    /// many at once.
    pub unrecorded_threads: u64,
    /// Events of threads that were already past their end.
    pub late_events: u64,
    /// How the threads were chosen, if Norn did that, and what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controlled: Option<Controlled>,
    /// The functions whose calls were to be recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<WantedFunctions>,
    /// How many places of these could not be changed so that calls are seen.
    #[serde(default, skip_serializing_if = "is_none")]
    pub refused_functions: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Functions whose calls were to be recorded.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct WantedFunctions {
    /// A pattern for their names.
    pub pattern: String,
    /// In how many places of modules they were found.
    pub found: u64,
    /// Whether any was inlined: such calls are not seen.
    pub inlined: bool,
    /// How many have no room for a call of the runtime at their beginning, and are not seen.
    #[serde(default)]
    pub rigid: u64,
    /// The name of a function that is almost the same, if there is none of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<String>,
    /// Parameters that do not arrive in registers: the compiler has removed them, or they are no
    /// integers or pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneParameter>,
}

/// A parameter whose values are not seen.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoneParameter {
    /// The function.
    pub function: String,
    /// Which of its parameters, from 0.
    pub position: usize,
    /// What the parameter is called.
    pub name: String,
}

impl Run {
    /// The process that is of interest unless somebody says otherwise: the first of those with the
    /// most threads. Shells and other helpers come before it.
    pub fn busiest(&self) -> u32 {
        let busiest = self.processes.iter().rev().max_by_key(|it| it.threads);
        busiest.map_or(0, |it| it.number)
    }
}

/// Recording stopped before the run did.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub why: StopReason,
    /// The last sequence number up to which all threads were recorded.
    pub seq: u64,
}

/// Why recording stopped.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// The trace had reached its largest size.
    Size,
    /// The disk was full or broken.
    Disk,
}

/// One process of a run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Process {
    /// Its number in this run, from 0.
    pub number: u32,
    /// Its id while it lived.
    pub pid: u32,
    /// The number of the process that forked it; its own for the first.
    pub parent: u32,
    /// How it ended.
    pub end: End,
    /// How many threads it has had.
    #[serde(default)]
    pub threads: u32,
    /// Events that its threads could not record.
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
    /// It became another program.
    Exec,
    /// It is gone, and who waited for it was not us.
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
    /// Where it was called.
    pub pc: u64,
}
