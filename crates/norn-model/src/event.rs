//! Events: what one thread did in one step.

use serde::{Deserialize, Serialize};

use crate::{
    AtomicOp, EventId, LockMode, NameId, Object, Ordering, Outcome, SiteId, StackId, ThreadId,
    Value, WokenBy,
};

/// One event of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread and the index of the event in it.
    pub id: EventId,
    /// The operation.
    pub op: Op,
    /// The place in the code.
    pub site: SiteId,
    /// The call stack.
    pub stack: StackId,
    /// Its sequence number: in the order of synchronisation, or, with global order, of all events.
    pub seq: Option<u64>,
}

/// What a thread did in one step.
///
/// Addresses identify variables, locks and other objects within one run. What an operation means to
/// an analysis is decided by [`Op::effect`], and how it is called by [`Op::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The thread begins; the range of its stack.
    Begin {
        /// Lowest address.
        stack: u64,
        /// Number of bytes.
        size: u64,
    },
    /// The thread ends.
    End,
    /// A thread is created.
    Fork(ThreadId),
    /// A thread has ended and is joined.
    Join(ThreadId),
    /// A thread is detached: it will not be joined.
    Detach(ThreadId),
    /// A thread is asked to cancel itself.
    Cancel(ThreadId),
    /// A signal handler begins.
    HandlerBegin {
        /// The signal.
        signal: i32,
    },
    /// A signal handler ends.
    HandlerEnd,

    /// A lock is acquired.
    Acquire {
        /// Which.
        lock: u64,
        /// In which mode.
        mode: LockMode,
        /// By which kind of request.
        how: Outcome,
    },
    /// A lock was requested and not acquired.
    AcquireFailed {
        /// Which.
        lock: u64,
        /// In which mode.
        mode: LockMode,
        /// By which kind of request.
        how: Outcome,
        /// The error.
        error: i32,
    },
    /// A lock is released.
    Release {
        /// Which.
        lock: u64,
        /// In which mode it was held.
        mode: LockMode,
    },
    /// A condition wait releases its mutex.
    WaitRelease {
        /// The mutex.
        lock: u64,
    },
    /// A condition wait begins.
    Wait {
        /// Which condition variable.
        cond: u64,
        /// The mutex of the wait.
        lock: u64,
        /// Whether the wait has a time limit.
        timed: bool,
    },
    /// A condition wait is over, and its mutex acquired again.
    WaitAcquire {
        /// Which condition variable.
        cond: u64,
        /// The mutex.
        lock: u64,
        /// What ended it.
        woken: WokenBy,
    },
    /// One thread that waits is woken.
    Signal {
        /// Which condition variable.
        cond: u64,
    },
    /// All threads that wait are woken.
    Broadcast {
        /// Which condition variable.
        cond: u64,
    },
    /// The thread arrives at a barrier.
    BarrierEnter {
        /// Which.
        barrier: u64,
    },
    /// The thread continues after a barrier.
    BarrierLeave {
        /// Which.
        barrier: u64,
        /// Whether it got `PTHREAD_BARRIER_SERIAL_THREAD`.
        serial: bool,
    },
    /// A semaphore is incremented.
    SemPost {
        /// Which.
        semaphore: u64,
    },
    /// A semaphore was decremented.
    SemWait {
        /// Which.
        semaphore: u64,
        /// Whether the request has a time limit.
        timed: bool,
    },
    /// A semaphore was requested and not decremented.
    SemFailed {
        /// Which.
        semaphore: u64,
        /// The error.
        error: i32,
    },
    /// A once-only initialisation begins in this thread.
    OnceBegin {
        /// Which control object.
        once: u64,
    },
    /// A once-only initialisation ends in this thread.
    OnceEnd {
        /// Which control object.
        once: u64,
        /// Whether it succeeded; if not, another thread begins again.
        done: bool,
    },
    /// A once-only initialisation was found done.
    OnceDone {
        /// Which control object.
        once: u64,
    },

    /// Memory is read.
    Read {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u64,
        /// The value.
        value: Value,
        /// Whether it was declared volatile.
        volatile: bool,
    },
    /// Memory is written.
    Write {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u64,
        /// The value.
        value: Value,
        /// Whether it was declared volatile.
        volatile: bool,
    },
    /// An atomic operation.
    Atomic {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u8,
        /// The requested memory ordering.
        ordering: Ordering,
        /// The operation with its values.
        op: AtomicOp,
    },
    /// A memory fence.
    Fence(Ordering),
    /// Annotation: everything before is visible to a thread that passes `HappensAfter` with the
    /// same object.
    HappensBefore {
        /// The address that both sides name.
        object: u64,
    },
    /// Annotation: the other side of `HappensBefore`.
    HappensAfter {
        /// The address that both sides name.
        object: u64,
    },

    /// Something is sent through an object of the kernel: bytes into a pipe or a socket, a message,
    /// a count, a connection, a wake-up; or its end is announced. Each has its positions in the
    /// channel.
    Send {
        /// Which channel, by number.
        channel: u64,
        /// Its first position.
        from: u64,
        /// The position after its last.
        to: u64,
    },
    /// It is received. An empty range means that it came from outside of the program.
    Receive {
        /// Which channel, by number.
        channel: u64,
        /// Its first position.
        from: u64,
        /// The position after its last.
        to: u64,
        /// Whether the wait for it has a time limit.
        timed: bool,
    },
    /// A call that waits for files, such as `poll`, has found this ready to be received.
    Ready {
        /// Which channel, by number.
        channel: u64,
        /// Its first position.
        from: u64,
        /// The position after its last.
        to: u64,
    },
    /// A call on a channel, or one that waits for files, received and sent nothing.
    NotReady {
        /// The error; 0 if there is none.
        error: i32,
    },

    /// Memory is allocated.
    Alloc {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// Memory is freed.
    Free {
        /// Lowest address.
        addr: u64,
    },
    /// Pages are mapped.
    Map {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// Pages are unmapped.
    Unmap {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// A synchronisation object is initialised.
    Init {
        /// Its address.
        object: u64,
        /// Its class.
        class: Object,
        /// The number of threads of a barrier, the initial value of a semaphore, the type of a
        /// mutex.
        detail: u64,
    },
    /// A synchronisation object is destroyed, or a descriptor closed.
    Destroy {
        /// Its address, or [the number](crate::descriptor_object) of a descriptor.
        object: u64,
        /// Its class.
        class: Object,
    },
    /// An object is used that has no other events: a descriptor.
    Use {
        /// [The number](crate::descriptor_object) of the descriptor.
        object: u64,
        /// Its class.
        class: Object,
    },

    /// A function is called whose calls are recorded. The site is the call site.
    Call {
        /// Which function; [`Trace::names`](crate::Trace::names) has its name.
        function: NameId,
        /// The six registers for integer and pointer arguments. The first argument of a member
        /// function is the object. Registers that the function has no parameter for mean nothing.
        arguments: [u64; 6],
    },
    /// The innermost such function that the thread is in returns.
    Return {
        /// Which.
        function: NameId,
        /// Its result; none if it is left by an exception or `longjmp`.
        value: Option<u64>,
    },
    /// Annotation: something happens, `NORN_EVENT("name", object)`.
    Mark {
        /// The name.
        name: NameId,
        /// The object that it happens to.
        object: u64,
    },
    /// Annotation: an atomic region begins. Regions nest.
    RegionBegin,
    /// Annotation: the innermost atomic region ends.
    RegionEnd,

    /// The thread sleeps.
    Sleep {
        /// The duration.
        nanoseconds: u64,
    },
    /// The thread yields the processor.
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
        /// The exit status.
        status: i32,
    },
    /// The process aborts.
    Abort,
}

/// Which order the events of a trace have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The events of each thread are ordered, and all synchronisation is.
    #[default]
    Local,
    /// All events are in one total order.
    Global,
}
