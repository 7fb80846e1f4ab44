//! Candidates and what came of them.

use norn_model::{BugClass, Consequence, Location, Ordering, Scope, ThreadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Address, EventRow, Fix, Interleaving, NotReproduced, Number, Story, SuppressedBy, Verdict,
};
use crate::Action;

/// A candidate, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The class of the bug.
    pub class: BugClass,
    /// The kind within the class: the pattern, or the name of the property.
    pub kind: String,
    /// The usual name of the bug: `data race`, `lost wake-up`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What came of it.
    pub status: Status,
    /// Whether it happened and does harm: a failure, or a data race, which is undefined behaviour.
    pub harmful: bool,
    /// Findings with the same number are one bug; only harmful ones have a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bug: Option<usize>,
    /// Whether the bug was announced by this finding, while the search ran. Another one may show it better.
    #[serde(default)]
    pub announced: bool,
    /// Identifies the bug across versions of the program: digits that do not change when lines or
    /// addresses do. Bugs of one class in the same functions may have the same.
    #[serde(default)]
    pub fingerprint: String,
    /// What suppresses it, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed_by: Option<SuppressedBy>,
    /// The variables that it is about.
    pub variables: Vec<Object>,
    /// What the parameters of the property stand for.
    pub parameters: Vec<Parameter>,
    /// The events, in the order that makes the bug; of a deadlock, thread by thread.
    pub accesses: Vec<Access>,
    /// Why events of one thread belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Which trace it was predicted from: 0 is the recorded run.
    pub source: usize,
    /// Number of candidates at these places, of which some were tried.
    pub instances: usize,
    /// Number of copies of these places that differ in the functions into which they are inlined.
    pub stacks: usize,
    /// How often the recorded run allows it, and why it may be intended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<Remark>,
    /// A visible failure that depends on what a read of the finding sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_stake: Option<AtStake>,
    /// The schedule that makes it happen, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Why there is no schedule, or why nothing was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Of a data race whose accesses are not adjacent: why nothing orders them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unordered: Option<Unordered>,
    /// Of a data race: synchronisation that is not recorded and may order its accesses. Such a race is
    /// harmful only if the program fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded_sync: Option<UnrecordedOrder>,
    /// Where the program left the schedule, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What it led to, if it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
    /// Whether the program's output or exit status differed from that of the recorded run.
    pub other_output: bool,
    /// The exit status, if neither it nor that of the recorded run is a failure, and they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_status: Option<i32>,
    /// How the failure came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// The last lines that the program wrote to standard error, if it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// The recorded order of the events, and the forced one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Interleaving>,
    /// A lock that would have excluded it, if such a lock passes the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// Of an order violation that leads to a failure: the atomicity violation or data race that its events
    /// are part of in the run that failed, if there is one. The recorded run may lack some of its events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The clip that makes it happen again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// The command that replays the clip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<String>,
    /// Why it is not reproducible, if that is its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_reproduced: Option<NotReproduced>,
    /// Executions of the program up to the one that showed it, without replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<usize>,
    /// A failure that it leads to when the functions that it is about run to their ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harm: Option<Harm>,
}

/// What came of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The recorded run itself did it.
    Observed,
    /// The program did it when it was forced to, and again when its clip was replayed, if it is
    /// harmful.
    Confirmed,
    /// The program did it once, and not again when its clip was replayed.
    NotReproducible,
    /// There is no schedule for it.
    Infeasible,
    /// There is a schedule, and the program did not follow it.
    Unconfirmed,
    /// No schedule was found within the limits, and none is excluded.
    Inconclusive,
    /// It was not tried.
    Untried,
}

/// One event of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// The thread that does it.
    pub thread: ThreadName,
    /// What it does.
    pub action: Action,
    /// What the property calls the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Whether the thread gets stuck here and never completes it.
    pub stuck: bool,
    /// The variable, lock, thread or function that it is done to.
    pub variable: Object,
    /// The value in the recorded run, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// The same as the variable's type shows it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// Where it is in the program, and the callers, innermost first. Functions of libraries are left out:
    /// an operation in one of them is shown at the line that called it.
    pub stack: Vec<Location>,
    /// The locks that the thread holds there.
    pub locks: Vec<HeldLock>,
    /// All calls that led there, with those of libraries, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Location>,
}

/// Something in memory that has a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Object {
    /// The variable, or what else it is: `Account::balance` is a member of an object on the heap,
    /// `Account#2::balance` that of the second one that was allocated there, and `heap[24]+8` is byte 8
    /// of a heap block of 24 bytes whose type is unknown.
    pub name: String,
    /// The variable that pointed to the object when it was named: `accounts[1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Where its memory was allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_at: Option<Location>,
    /// Its address in that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

impl Object {
    /// An object of which nothing but the name is known.
    pub fn named(name: impl Into<String>) -> Object {
        Object { name: name.into(), ..Object::default() }
    }

    /// The name, and which of the objects that are called so: `Account::balance of accounts[1]`.
    pub fn full_name(&self) -> String {
        match &self.holder {
            Some(holder) => format!("{} of {holder}", self.name),
            None => self.name.clone(),
        }
    }

    /// The same while its memory was not freed yet.
    #[must_use]
    pub fn before_free(mut self) -> Object {
        self.name = self.name.trim_start_matches("freed ").to_owned();
        self
    }
}

/// A lock that a thread holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldLock {
    /// Which.
    #[serde(flatten)]
    pub lock: Object,
    /// Whether it is shared with other readers.
    pub shared: bool,
}

/// A parameter of a property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub value: Object,
}

/// How often the recorded run allows a candidate, and why it may be intended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// How often.
    pub count: u64,
    /// How many of them read memory that was not written before.
    pub early: u64,
    /// The kind of protocol that makes either order correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A visible failure that depends on what a read sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AtStake {
    /// What happens there: `assertion`, `error-message`, `output`, `loop` or `access`.
    pub failure: String,
    /// The lines from the failure back to the read that decides it, as far as they are known.
    pub chain: Vec<Location>,
    /// The number of dependence steps from the failure to the read.
    pub distance: u32,
    /// Where the write is that the read saw in the recorded run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Location>,
    /// Where the write is that it sees instead. None if the memory was not written before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<Location>,
}

/// Why the accesses of a data race are not ordered although atomic operations are between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unordered {
    /// The operation that would order them with a stronger memory order, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weak: Option<WeakOperation>,
}

/// Synchronisation that no trace contains and that may order two accesses: inline assembly, or code
/// that was not built by `norn cc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnrecordedOrder {
    /// What may release, after the first access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<UnrecordedSync>,
    /// What may acquire, before the second access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acquire: Option<UnrecordedSync>,
}

/// An instruction that may synchronise threads without being recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnrecordedSync {
    /// Its name in assembly: `lock xadd`.
    pub instruction: String,
    /// Where it is, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// An atomic operation whose memory order is too weak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WeakOperation {
    /// What it does.
    pub operation: AtomicOperation,
    /// The atomic variable.
    pub variable: Object,
    /// Its memory order.
    pub ordering: Ordering,
    /// Where it is, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// What an atomic operation does to its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicOperation {
    /// It reads it.
    Load,
    /// It writes it.
    Store,
    /// It reads and writes it in one step.
    Update,
}

/// A schedule that makes a candidate happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// `sound` if all values that matter are as recorded, `speculative` if some differ, `perturbed` if threads
    /// were held at places in the code because the program took another path.
    pub grade: String,
    /// The engine that found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Number of turns.
    pub switches: usize,
    /// The threads in their order; empty where the clip has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// A thread runs until before one of its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The thread.
    pub thread: ThreadName,
    /// Before which of its events it stops, from 0.
    pub until: u64,
}

/// A failure that a broken property leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Harm {
    /// What happened.
    pub consequence: Consequence,
    /// How it came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// The clip that makes it happen again.
    pub clip: String,
    /// The command that replays the clip.
    pub replay: Vec<String>,
}

/// What is behind a failure, as the run that failed shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The bug class.
    pub class: BugClass,
    /// The exact kind.
    pub kind: String,
    /// Its usual name.
    pub name: String,
    /// The headline.
    pub title: String,
    /// The variables that it is about.
    pub variables: Vec<Object>,
    /// The events, in their order; of a deadlock, the requests in which threads wait.
    pub accesses: Vec<Access>,
    /// The order of these events in the run that failed, and the synchronisation around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<EventRow>,
    /// Their order in the run that it was predicted from, as far as that run has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<EventRow>,
    /// A lock that would have excluded it, if such a lock passes the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A failure that happened without having been predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedFailure {
    /// What happened.
    pub consequence: Consequence,
    /// The number of the bug, if the failure counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug: Option<usize>,
    /// What is behind it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// How it came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// The last lines that the program wrote to standard error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// How many atomic loads returned an older value than the newest, as the memory model of C++ allows.
    pub older_loads: u64,
    /// Identifies the failure across versions of the program, like that of a finding.
    #[serde(default)]
    pub fingerprint: String,
    /// Which finding the run was to confirm, if any, by its place in the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<usize>,
    /// What suppresses it, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed_by: Option<SuppressedBy>,
    /// Whether a reader is shown it: not if it is suppressed, or a finding shows the same failure.
    pub shown: bool,
    /// The clip that makes it happen again.
    pub clip: String,
    /// The command that replays the clip.
    pub replay: Vec<String>,
    /// Executions of the program up to this one, without replays.
    pub executions: usize,
    /// Why it is not reproducible, if it is not. Then it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_reproduced: Option<NotReproduced>,
}

/// A finding that a reader is shown in full, and how else the same bug was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// Its place in the list of findings.
    pub finding: usize,
    /// The other findings of the same bug.
    pub also: Vec<AlsoSeen>,
}

/// Other findings of a bug, by class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlsoSeen {
    /// The name of the class.
    pub name: String,
    /// Some of their clips.
    pub clips: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// Findings that a reader is shown in one line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefSection {
    /// What they have in common.
    pub title: String,
    /// One line for all that read the same.
    pub lines: Vec<BriefLine>,
    /// Findings beyond the lines.
    pub more: usize,
    /// Whether these findings had no visible effect, so that their number is enough for most readers.
    #[serde(default)]
    pub harmless: bool,
}

/// One line for findings that read the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefLine {
    /// The first of them, by its place in the list of findings.
    pub finding: usize,
    /// How many there are.
    pub times: usize,
}
