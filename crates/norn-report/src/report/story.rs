//! How a failure came about.

use norn_model::{Location, MemoryFault, ThreadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Address, EventRow, Number, Object, Waiter};

/// How a failure came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Story {
    /// The kind of failure, with what explains it.
    #[serde(flatten)]
    pub failure: FailureKind,
    /// The last events before it.
    pub last: Vec<EventRow>,
}

/// The kinds of failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// No thread can continue.
    Stuck(Stuck),
    /// Threads run and make no progress.
    Running(Running),
    /// Memory, or an object that was destroyed, was misused.
    Misuse(Misuse),
    /// A synchronisation object or a descriptor was misused.
    Object(ObjectMisuse),
    /// The program died.
    Death(Death),
}

/// What one thread did, or was about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The thread.
    pub thread: ThreadName,
    /// Which of its events, from 0, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Where, and by which calls, innermost first.
    pub stack: Vec<Location>,
}

/// No thread can continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stuck {
    /// The threads that wait; those that wait for each other first.
    pub waiters: Vec<Waiter>,
    /// Threads of which each waits for the next, and the last for the first.
    pub cycle: Vec<ThreadName>,
    /// Threads that have ended.
    pub ended: Vec<ThreadName>,
}

/// Threads run and make no progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Running {
    /// The threads that run.
    pub runners: Vec<Runner>,
    /// The threads that wait.
    pub waiters: Vec<Waiter>,
    /// Threads that have ended.
    pub ended: Vec<ThreadName>,
}

/// A thread that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Runner {
    /// The thread, and its last event.
    #[serde(flatten)]
    pub step: Step,
    /// The values that it read last.
    pub reads: Vec<ObservedValue>,
}

/// A value that a thread read, and the write that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedValue {
    /// The variable.
    pub object: Object,
    /// The value, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// The same as the variable's type shows it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// The last write to it, if it was written since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Writing>,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Writing {
    /// The thread, and where.
    #[serde(flatten)]
    pub step: Step,
    /// The value, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// The same as the variable's type shows it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// Memory or a synchronisation object was misused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Misuse {
    /// How.
    pub fault: MemoryFault,
    /// The thread, and where.
    pub by: Step,
    /// The address.
    pub address: Address,
    /// The heap block, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// Where the object was destroyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroyed: Option<Step>,
}

/// A synchronisation object or a descriptor was misused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectMisuse {
    /// How.
    pub fault: norn_model::Misuse,
    /// The object.
    pub object: Object,
    /// The thread, and where.
    pub by: Step,
    /// The earlier operations on the object that make it a misuse.
    pub earlier: Vec<EarlierUse>,
}

/// An operation on an object before it was misused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierUse {
    /// What the thread did.
    pub state: ObjectState,
    /// The thread, and where.
    #[serde(flatten)]
    pub step: Step,
}

/// What an earlier operation means for the state of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectState {
    /// The thread holds the lock since.
    Locked,
    /// The thread released the lock, which is free since.
    Unlocked,
    /// The thread waits since.
    Waits,
    /// The thread closed the descriptor.
    Closed,
    /// The thread is in a call on the descriptor.
    Used,
}

/// A heap block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// What is at the address: `Entry::next`.
    #[serde(default)]
    pub object: Object,
    /// Its size in bytes.
    pub size: u64,
    /// Offset of the address from the block's start.
    pub offset: i64,
    /// Where it was allocated.
    pub allocated: Step,
    /// Where it was freed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<Step>,
}

/// The program died.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Death {
    /// The thread, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Step>,
    /// The fault, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The values that the thread read last, the last first.
    pub reads: Vec<ObservedValue>,
}

/// A signal that a wrong instruction raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The number of the signal.
    pub signal: i32,
    /// The address that could not be accessed.
    pub address: Address,
    /// Whether that comes from a null pointer.
    pub null: bool,
}
