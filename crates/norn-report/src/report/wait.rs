//! What threads wait for.

use norn_model::{LockMode, ThreadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Object, Step};

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiter {
    /// The thread, and where.
    #[serde(flatten)]
    pub step: Step,
    /// What it waits for.
    #[serde(rename = "for")]
    pub want: Want,
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// A lock.
    Lock {
        /// Which.
        object: Object,
        /// The threads that hold it.
        holders: Vec<Holder>,
        /// Where threads wait to take it for writing that this one, which only reads, lets pass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        behind: Vec<Step>,
    },
    /// A signal or broadcast.
    Wakeup(Wakeup),
    /// Other threads at a barrier.
    Barrier(Barrier),
    /// A post of a semaphore.
    Semaphore(Semaphore),
    /// The end of a thread.
    End {
        /// Which.
        thread: ThreadName,
        /// Whether it has ended.
        ended: bool,
    },
    /// The end of a once-only initialisation by another thread.
    Once {
        /// What is initialised.
        object: Object,
        /// The thread that began it.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<Step>,
    },
    /// A signal of the operating system, which only the program itself sends.
    Signal(SignalWait),
    /// A wake-up on a word of memory (futex), which leaves no events.
    Word(Object),
    /// Another thread's operation on a pipe, a socket pair or an event counter.
    File,
    /// A time, or something outside of the program.
    Outside,
}

/// A thread that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    /// The thread, and where it took the lock.
    #[serde(flatten)]
    pub taken: Step,
    /// The kind of lock, and what it is held for.
    pub mode: LockMode,
    /// Whether the thread has ended.
    pub ended: bool,
}

/// A wait for a signal or broadcast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wakeup {
    /// The condition variable.
    pub object: Object,
    /// The last signals and broadcasts, in their order.
    pub calls: Vec<Notice>,
    /// How many there were before those.
    pub earlier: u64,
}

/// A signal or broadcast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// The thread that sent it, and where.
    #[serde(flatten)]
    pub step: Step,
    /// Whether it was a broadcast.
    pub broadcast: bool,
    /// Whether it came before the wait began.
    pub before: bool,
    /// The threads that it woke.
    pub woke: Vec<ThreadName>,
}

/// A wait for signals that only the program itself sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalWait {
    /// The names of the signals.
    pub signals: Vec<String>,
    /// The last ones that were sent, in their order.
    pub sent: Vec<SentSignal>,
    /// How many there were before those.
    pub earlier: u64,
}

/// A signal that a thread sent, or set a timer for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentSignal {
    /// The thread that sent it, and where.
    #[serde(flatten)]
    pub step: Step,
    /// The name of the signal.
    pub signal: String,
    /// The thread that it was sent to; none if it was sent to the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ThreadName>,
    /// Whether it was sent before the wait began.
    pub before: bool,
    /// The threads and handlers that received it.
    pub received: Vec<ThreadName>,
}

/// A wait at a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Barrier {
    /// The barrier.
    pub object: Object,
    /// How many threads it needs, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// The threads that arrived.
    pub arrived: Vec<ThreadName>,
}

/// A wait for a semaphore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Semaphore {
    /// The semaphore.
    pub object: Object,
    /// Its initial value, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<u64>,
    /// How often it was posted.
    pub posts: u64,
    /// How often it was taken.
    pub waits: u64,
    /// The last posts.
    pub last: Vec<Step>,
}
