//! What events do: one table for all names of them.

use norn_model::{Access, AtomicOp, LockMode, Object, Op, WokenBy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident: $noun:literal, $verb:literal;)*) => {
        /// What an event does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Action {
            $($(#[$doc])* $name,)*
        }

        impl Action {
            /// The name in tables and lists: `lock`.
            pub fn noun(self) -> &'static str {
                match self {
                    $(Action::$name => $noun,)*
                }
            }

            /// The name in a sentence about the thread: `locks`.
            pub fn verb(self) -> &'static str {
                match self {
                    $(Action::$name => $verb,)*
                }
            }
        }
    };
}

actions! {
    /// A thread begins.
    Begin: "begins", "begins";
    /// A thread ends.
    End: "ends", "ends";
    /// A thread is created.
    Create: "create", "creates";
    /// A thread that has ended is waited for.
    Join: "join", "joins";
    /// A thread is detached.
    Detach: "detach", "detaches";
    /// A thread is cancelled.
    Cancel: "cancel", "cancels";
    /// A signal handler begins.
    HandlerBegin: "handler of signal", "handles signal";
    /// A signal handler ends.
    HandlerEnd: "handler ends", "ends a signal handler";
    /// A lock is taken.
    Lock: "lock", "locks";
    /// A lock is taken for reading, together with other readers.
    LockShared: "lock", "locks";
    /// A lock was requested and not obtained.
    LockFailed: "lock failed", "fails to lock";
    /// A lock is released.
    Unlock: "unlock", "unlocks";
    /// A condition wait releases its mutex.
    WaitUnlock: "wait unlocks", "unlocks";
    /// A wait begins, or is in progress.
    Wait: "wait", "awaits";
    /// A condition wait ended by a timeout.
    WaitTimeout: "wait times out", "times out waiting on";
    /// A condition wait ended by a wake-up.
    Wake: "wake", "wakes up on";
    /// One waiting thread is woken.
    Signal: "signal", "signals";
    /// All waiting threads are woken.
    Broadcast: "broadcast", "broadcasts";
    /// A thread arrives at a barrier.
    BarrierEnter: "barrier", "arrives at";
    /// A thread leaves a barrier.
    BarrierLeave: "leave barrier", "leaves";
    /// A semaphore is posted.
    SemPost: "sem-post", "posts";
    /// A semaphore is taken.
    SemWait: "sem-wait", "takes";
    /// A semaphore was requested and not taken.
    SemWaitFailed: "sem-wait failed", "fails to take";
    /// A once-only initialisation begins.
    OnceBegin: "once begins", "begins to initialise";
    /// A once-only initialisation ends.
    OnceEnd: "once ends", "has initialised";
    /// A once-only initialisation was found done.
    OnceDone: "once was done", "finds initialised";
    /// Memory is read.
    Read: "read", "reads";
    /// Memory is written.
    Write: "write", "writes";
    /// Memory is read by an atomic operation.
    AtomicRead: "atomic read", "reads atomically";
    /// Memory is written by an atomic operation.
    AtomicWrite: "atomic write", "writes atomically";
    /// Memory is read and written by one atomic operation.
    AtomicUpdate: "atomic update", "updates atomically";
    /// A compare-and-exchange succeeded.
    CompareExchange: "compare-exchange", "exchanges atomically";
    /// A compare-and-exchange failed.
    CompareExchangeFailed: "compare-exchange failed", "fails to exchange";
    /// A memory fence.
    Fence: "fence", "passes a fence";
    /// The program declares that all before is visible after the matching declaration.
    HappensBefore: "happens-before", "declares happens-before";
    /// The matching declaration.
    HappensAfter: "happens-after", "declares happens-after";
    /// Something is sent through a pipe, a socket or another object of the kernel.
    Send: "send", "sends into";
    /// It is received.
    Receive: "receive", "receives from";
    /// A call that waits for files returned because of it.
    Ready: "ready", "finds ready";
    /// A call on a pipe or a socket, or one that waits for files, received and sent nothing.
    NotReady: "not ready", "finds nothing ready";
    /// Memory is allocated.
    Alloc: "alloc", "allocates";
    /// Memory is freed.
    Free: "free", "frees";
    /// Memory is mapped.
    Map: "map", "maps";
    /// Memory is unmapped.
    Unmap: "unmap", "unmaps";
    /// A synchronisation object is used.
    Use: "use", "uses";
    /// A synchronisation object is initialised.
    Init: "init", "initialises";
    /// A synchronisation object is destroyed.
    Destroy: "destroy", "destroys";
    /// A descriptor is closed.
    Close: "close", "closes";
    /// A function is called.
    Call: "call", "calls";
    /// A function returns.
    Return: "return from", "returns from";
    /// A mark of the program is passed.
    Mark: "mark", "marks";
    /// An atomic region begins.
    RegionBegin: "atomic region begins", "begins an atomic region";
    /// An atomic region ends.
    RegionEnd: "atomic region ends", "ends an atomic region";
    /// A thread sleeps.
    Sleep: "sleep", "sleeps";
    /// A thread yields.
    Yield: "yield", "yields";
    /// A process is forked.
    ForkProcess: "fork process", "forks process";
    /// Another program is executed.
    Exec: "exec", "executes another program";
    /// The program exits.
    Exit: "exit", "exits with";
    /// The program aborts.
    Abort: "abort", "aborts";
    /// An event that only a property has a name for.
    Event: "event", "does";
}

impl From<&Op> for Action {
    fn from(op: &Op) -> Action {
        match *op {
            Op::Begin { .. } => Action::Begin,
            Op::End => Action::End,
            Op::Fork(_) => Action::Create,
            Op::Join(_) => Action::Join,
            Op::Detach(_) => Action::Detach,
            Op::Cancel(_) => Action::Cancel,
            Op::HandlerBegin { .. } => Action::HandlerBegin,
            Op::HandlerEnd => Action::HandlerEnd,
            Op::Read { .. } => Action::Read,
            Op::Write { .. } => Action::Write,
            Op::Atomic { op, .. } => atomic(op),
            Op::Fence(_) => Action::Fence,
            Op::HappensBefore { .. } => Action::HappensBefore,
            Op::HappensAfter { .. } => Action::HappensAfter,
            Op::Alloc { .. } => Action::Alloc,
            Op::Free { .. } => Action::Free,
            Op::Map { .. } => Action::Map,
            Op::Unmap { .. } => Action::Unmap,
            Op::Call { .. } => Action::Call,
            Op::Return { .. } => Action::Return,
            Op::Mark { .. } => Action::Mark,
            Op::RegionBegin => Action::RegionBegin,
            Op::RegionEnd => Action::RegionEnd,
            Op::Sleep { .. } => Action::Sleep,
            Op::Yield => Action::Yield,
            Op::ProcessFork { .. } => Action::ForkProcess,
            Op::Exec => Action::Exec,
            Op::Exit { .. } => Action::Exit,
            Op::Abort => Action::Abort,
            Op::Acquire { mode: LockMode::Read, .. } => Action::LockShared,
            Op::Acquire { .. } => Action::Lock,
            Op::AcquireFailed { .. } => Action::LockFailed,
            Op::Release { .. } => Action::Unlock,
            Op::WaitRelease { .. } => Action::WaitUnlock,
            Op::Wait { .. } => Action::Wait,
            Op::WaitAcquire { woken: WokenBy::Timeout, .. } => Action::WaitTimeout,
            Op::WaitAcquire { .. } => Action::Wake,
            Op::Signal { .. } => Action::Signal,
            Op::Broadcast { .. } => Action::Broadcast,
            Op::BarrierEnter { .. } => Action::BarrierEnter,
            Op::BarrierLeave { .. } => Action::BarrierLeave,
            Op::SemPost { .. } => Action::SemPost,
            Op::SemWait { .. } => Action::SemWait,
            Op::SemFailed { .. } => Action::SemWaitFailed,
            Op::OnceBegin { .. } => Action::OnceBegin,
            Op::OnceEnd { .. } => Action::OnceEnd,
            Op::OnceDone { .. } => Action::OnceDone,
            Op::Send { .. } => Action::Send,
            Op::Receive { .. } => Action::Receive,
            Op::Ready { .. } => Action::Ready,
            Op::NotReady { .. } => Action::NotReady,
            Op::Init { .. } => Action::Init,
            Op::Destroy { class: Object::Descriptor, .. } => Action::Close,
            Op::Destroy { .. } => Action::Destroy,
            Op::Use { .. } => Action::Use,
        }
    }
}

fn atomic(op: AtomicOp) -> Action {
    match op {
        AtomicOp::Load(_) => Action::AtomicRead,
        AtomicOp::Store(_) => Action::AtomicWrite,
        AtomicOp::Rmw { .. } => Action::AtomicUpdate,
        AtomicOp::Cas { .. } => Action::CompareExchange,
        AtomicOp::CasFailed { .. } => Action::CompareExchangeFailed,
    }
}

impl From<Access> for Action {
    fn from(access: Access) -> Action {
        match access {
            Access::Read => Action::Read,
            Access::Write => Action::Write,
            Access::Free => Action::Free,
            Access::Acquire => Action::Lock,
            Access::Share => Action::LockShared,
            Access::Release => Action::Unlock,
            Access::Wait => Action::Wait,
            Access::Signal => Action::Signal,
            Access::Use => Action::Use,
            Access::Init => Action::Init,
            Access::Destroy => Action::Destroy,
            Access::Event => Action::Event,
        }
    }
}
