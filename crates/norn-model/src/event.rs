//! One step of one thread.

use serde::{Deserialize, Serialize};

use crate::{EventId, NameId, SiteId, StackId, ThreadId};

/// One step of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose step, and which of its steps.
    pub id: EventId,
    /// What was done.
    pub op: Op,
    /// Where in the code.
    pub site: SiteId,
    /// By which calls it came there.
    pub stack: StackId,
    /// Its number in the order of synchronisation, or of all events where the trace has that.
    pub seq: Option<u64>,
}

/// The value of a memory access, if it is known. Sixteen bytes at most, little-endian.
pub type Value = Option<u128>;

/// What a thread did in one step.
///
/// Addresses name variables, locks and other objects as they were in this run. A new operation
/// makes every `match` decide what to do about it: there is no "other".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The thread begins; the range of its stack.
    Begin {
        /// Lowest address.
        stack: u64,
        /// Bytes from there.
        size: u64,
    },
    /// The thread ends.
    End,
    /// A thread is created.
    Fork(ThreadId),
    /// A thread has ended and was waited for.
    Join(ThreadId),
    /// A thread will not be waited for.
    Detach(ThreadId),
    /// A thread is asked to end itself.
    Cancel(ThreadId),
    /// A signal handler begins.
    HandlerBegin {
        /// The signal.
        signal: i32,
    },
    /// A signal handler ends.
    HandlerEnd,

    /// A lock is taken.
    Acquire {
        /// Which.
        lock: u64,
        /// To do what.
        mode: LockMode,
        /// How it was asked for.
        how: Outcome,
    },
    /// A lock was asked for and not given.
    AcquireFailed {
        /// Which.
        lock: u64,
        /// To do what.
        mode: LockMode,
        /// How it was asked for.
        how: Outcome,
        /// The error.
        error: i32,
    },
    /// A lock is given back.
    Release {
        /// Which.
        lock: u64,
        /// What it was held for.
        mode: LockMode,
    },
    /// A condition wait gives its mutex back.
    WaitRelease {
        /// The mutex.
        lock: u64,
    },
    /// A condition wait begins.
    Wait {
        /// What for.
        cond: u64,
        /// The mutex that goes with it.
        lock: u64,
        /// Whether it waits for some time only.
        timed: bool,
    },
    /// A condition wait is over and has its mutex again.
    WaitAcquire {
        /// What for.
        cond: u64,
        /// The mutex.
        lock: u64,
        /// What ended it.
        woken: WokenBy,
    },
    /// One who waits is woken.
    Signal {
        /// Who waits for this.
        cond: u64,
    },
    /// All who wait are woken.
    Broadcast {
        /// Who wait for this.
        cond: u64,
    },
    /// The thread arrives at a barrier.
    BarrierEnter {
        /// Which.
        barrier: u64,
    },
    /// The thread goes on behind a barrier.
    BarrierLeave {
        /// Which.
        barrier: u64,
        /// Whether it is the one chosen to know.
        serial: bool,
    },
    /// A semaphore goes up.
    SemPost {
        /// Which.
        semaphore: u64,
    },
    /// A semaphore has gone down.
    SemWait {
        /// Which.
        semaphore: u64,
        /// Whether it would have been waited for some time only.
        timed: bool,
    },
    /// A semaphore was to go down and did not.
    SemFailed {
        /// Which.
        semaphore: u64,
        /// The error.
        error: i32,
    },
    /// A once-only initialisation begins in this thread.
    OnceBegin {
        /// Of what.
        once: u64,
    },
    /// A once-only initialisation ends in this thread.
    OnceEnd {
        /// Of what.
        once: u64,
        /// Whether it was completed; if not, another thread tries again.
        done: bool,
    },
    /// A once-only initialisation was found done.
    OnceDone {
        /// Of what.
        once: u64,
    },

    /// Memory is read.
    Read {
        /// Where.
        addr: u64,
        /// How many bytes.
        size: u64,
        /// What.
        value: Value,
        /// Whether it was declared volatile.
        volatile: bool,
    },
    /// Memory is written.
    Write {
        /// Where.
        addr: u64,
        /// How many bytes.
        size: u64,
        /// What.
        value: Value,
        /// Whether it was declared volatile.
        volatile: bool,
    },
    /// An atomic operation.
    Atomic {
        /// Where.
        addr: u64,
        /// How many bytes.
        size: u8,
        /// Which ordering the program asked for.
        ordering: Ordering,
        /// What.
        op: AtomicOp,
    },
    /// A fence between threads.
    Fence(Ordering),
    /// The program says that all before is visible to who passes `HappensAfter` here.
    HappensBefore {
        /// An address that both name.
        object: u64,
    },
    /// See `HappensBefore`.
    HappensAfter {
        /// An address that both name.
        object: u64,
    },

    /// Memory is allocated.
    Alloc {
        /// Where.
        addr: u64,
        /// How many bytes.
        size: u64,
    },
    /// Memory is freed.
    Free {
        /// Where.
        addr: u64,
    },
    /// Pages are mapped.
    Map {
        /// Where.
        addr: u64,
        /// How many bytes.
        size: u64,
    },
    /// Pages are unmapped.
    Unmap {
        /// Where.
        addr: u64,
        /// How many bytes.
        size: u64,
    },
    /// A synchronisation object is initialised.
    Init {
        /// Where.
        object: u64,
        /// What.
        class: Object,
        /// A barrier's number of threads, a semaphore's first value, a mutex's type.
        detail: u64,
    },
    /// A synchronisation object is destroyed.
    Destroy {
        /// Where.
        object: u64,
        /// What.
        class: Object,
    },

    /// A function begins of which the calls are recorded. The site is where it was called from.
    Call {
        /// Which; [`Trace::names`](crate::Trace::names) has its name.
        function: NameId,
        /// What it was given, as far as that is in the six registers for integers and pointers. A
        /// member function's first one is the object. Those that it does not have mean nothing.
        arguments: [u64; 6],
    },
    /// The last such function that the thread has begun and not ended, ends.
    Return {
        /// Which.
        function: NameId,
        /// What it gives back; none if it is left by an exception or a long jump.
        value: Option<u64>,
    },
    /// The program says that something happens: `NORN_EVENT("name", object)`.
    Mark {
        /// What.
        name: NameId,
        /// To what.
        object: u64,
    },
    /// The program says that what follows is to be atomic. Regions nest.
    RegionBegin,
    /// The region ends that began last.
    RegionEnd,

    /// The thread sleeps.
    Sleep {
        /// For how long.
        nanoseconds: u64,
    },
    /// The thread lets others run.
    Yield,
    /// The process forks; the child has a trace of its own with this number.
    ProcessFork {
        /// Which.
        process: u32,
    },
    /// The process becomes another program.
    Exec,
    /// The process exits.
    Exit {
        /// With which status.
        status: i32,
    },
    /// The process aborts.
    Abort,
}

/// What a lock is held for, and what kind of lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LockMode {
    /// A mutex.
    Mutex,
    /// A spin lock.
    Spin,
    /// A read-write lock, shared with other readers.
    Read,
    /// A read-write lock, alone.
    Write,
}

/// How a lock was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Waiting as long as it takes.
    Waited,
    /// Without waiting.
    Tried,
    /// Waiting for some time.
    Timed,
    /// Given by a robust mutex whose owner had died.
    OwnerDied,
}

/// What ended a condition wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WokenBy {
    /// This signal or broadcast, for certain.
    Event(EventId),
    /// One of several, and it cannot be known which.
    OneOf(u32),
    /// Nothing that was recorded: it woke for no reason, or by code that we do not see.
    Nothing,
    /// Its time ran out.
    Timeout,
    /// It was cancelled, or failed with this error.
    Error(i32),
}

/// An atomic operation with its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Read.
    Load(u128),
    /// Written.
    Store(u128),
    /// Read, changed and written in one.
    Rmw {
        /// How it was changed.
        op: RmwOp,
        /// The value before.
        old: u128,
        /// The value after.
        new: u128,
    },
    /// Compared and exchanged.
    Cas {
        /// The value before, which was the expected one.
        old: u128,
        /// The value after.
        new: u128,
    },
    /// Compared and found different.
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
    /// Keeps common bits.
    And,
    /// Joins bits.
    Or,
    /// Flips bits.
    Xor,
    /// Keeps the bits that are not common.
    Nand,
}

/// The memory ordering that the program asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// Both.
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
}

/// Which order the events of a trace have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Each thread's events are in order, and all synchronisation is.
    #[default]
    Local,
    /// All events are in one total order.
    Global,
}
