//! The types of the operands of operations.

use serde::{Deserialize, Serialize};

use crate::EventId;

/// The value of a memory access, if it is known. Sixteen bytes at most, little-endian.
pub type Value = Option<u128>;

/// The mode of a lock, which also tells the kind of lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LockMode {
    /// A mutex.
    Mutex,
    /// A spin lock.
    Spin,
    /// A read-write lock, held shared.
    Read,
    /// A read-write lock, held exclusively.
    Write,
}

impl LockMode {
    /// The class of object that a lock with this mode is.
    pub const fn object(self) -> Object {
        match self {
            LockMode::Mutex => Object::Mutex,
            LockMode::Spin => Object::Spin,
            LockMode::Read | LockMode::Write => Object::RwLock,
        }
    }
}

/// How a lock was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Waiting without a limit.
    Waited,
    /// The same by a reader, which waits for writers that wait, too.
    Queued,
    /// Without waiting.
    Tried,
    /// Waiting with a time limit.
    Timed,
    /// A robust mutex was acquired whose owner had died.
    OwnerDied,
}

/// What ended a condition wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WokenBy {
    /// This signal or broadcast.
    Event(EventId),
    /// One of this many signals; the trace does not tell which.
    OneOf(u32),
    /// Nothing that was recorded: a spurious wake-up, or one by code without instrumentation.
    Nothing,
    /// A timeout.
    Timeout,
    /// It was cancelled, or failed with this error.
    Error(i32),
}

/// An atomic operation with its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// A load.
    Load(u128),
    /// A store.
    Store(u128),
    /// A read-modify-write.
    Rmw {
        /// The operation.
        op: RmwOp,
        /// The value before.
        old: u128,
        /// The value after.
        new: u128,
    },
    /// A compare-exchange that succeeded.
    Cas {
        /// The value before, which was the expected one.
        old: u128,
        /// The value after.
        new: u128,
    },
    /// A compare-exchange that failed.
    CasFailed {
        /// The value that was there.
        seen: u128,
        /// The value that was expected.
        expected: u128,
    },
}

/// How a read-modify-write changes the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RmwOp {
    /// Replaces it.
    Exchange,
    /// Adds.
    Add,
    /// Subtracts.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise and, negated.
    Nand,
}

/// The memory ordering that the program requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// None.
    Relaxed,
    /// Consume, treated as acquire.
    Consume,
    /// Acquire.
    Acquire,
    /// Release.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

/// Kinds of synchronisation objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    /// A mutex.
    Mutex,
    /// A spin lock.
    Spin,
    /// A read-write lock.
    RwLock,
    /// A condition variable.
    Cond,
    /// A barrier.
    Barrier,
    /// A semaphore.
    Semaphore,
    /// A key of thread-specific data.
    Key,
    /// A descriptor of a file.
    Descriptor,
}
