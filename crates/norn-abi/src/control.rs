//! The interface between the tools and the runtime for controlled runs, in which the runtime
//! schedules the threads.
//!
//! The tool writes a [`Plan`], and for a plan that follows a schedule also the tables after the
//! slots. The runtime executes the plan and writes an [`Outcome`].
//!
//! ```text
//! [ ... slots | Name 0 .. | Module 0 .. | Point 0 .. | Segment 0 .. ]
//! ```

use core::sync::atomic::{AtomicU32, AtomicU64};

pub use strategy::StrategyKind;

/// How the runtime chooses the next thread: in [`Plan::strategy`].
pub mod strategy;

/// What happens at the end of a schedule: in [`Plan::after`].
pub mod after {
    /// The threads run in turn.
    pub const FAIR: u32 = 0;
    /// The operating system schedules the threads.
    pub const FREE: u32 = 1;
    /// The runtime ends the program.
    pub const STOP: u32 = 2;
}

/// When a timed wait times out while a schedule is followed: in [`Plan::timeouts`].
pub mod timeouts {
    /// When the virtual clock reaches the deadline, or when the thread is due and waits.
    pub const BY_CLOCK: u32 = 0;
    /// When the schedule lists the timeout.
    pub const LISTED: u32 = 1;
}

/// Which stores an atomic load may return: in [`Plan::memory`].
pub mod memory {
    /// The newest one.
    pub const SEQUENTIAL: u32 = 0;
    /// Those that C++20 allows.
    pub const C11: u32 = 1;
}

/// The tool's instructions to the runtime.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// One of [`strategy`].
    pub strategy: u32,
    /// One of [`after`].
    pub after: u32,
    /// The seed of all random decisions.
    pub seed: u64,
    /// For [`strategy::PCT`]: the bug depth, that is the maximum number of ordering constraints of
    /// a bug.
    pub depth: u32,
    /// For [`strategy::ROUND_ROBIN`]: the number of events per turn. For [`strategy::RANDOM`]:
    /// their mean number; 0 lets the seed choose it.
    pub quantum: u32,
    /// For [`strategy::PCT`]: the expected number of events of the program.
    pub expected: u64,
    /// The number of events after which the run ends as not finished.
    pub max_steps: u64,
    /// The initial real-time clock, in nanoseconds since the epoch.
    pub realtime: u64,
    /// The initial value of all other clocks, in nanoseconds.
    pub monotonic: u64,
    /// The entry of the process that follows the schedule.
    pub process: u32,
    /// Whether the program is kept alive after a verdict, for a debugger.
    pub linger: u32,
    /// One of [`timeouts`].
    pub timeouts: u32,
    /// Number of entries in the table of threads.
    pub names: u32,
    /// Number of entries in the table of modules.
    pub modules: u32,
    /// Number of entries in the table of points.
    pub points: u32,
    /// Number of entries in the table of segments.
    pub segments: u32,
    /// [`crate::input::KEEP`] and [`crate::input::FEED`].
    pub inputs: u32,
    /// One of [`memory`].
    pub memory: u32,
}

/// A thread of a schedule. The first entry is the main thread.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Name {
    /// The entry of its parent.
    pub parent: u32,
    /// Which child of its parent it is, from 1.
    pub child: u32,
}

/// A module in which a schedule has points.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// Its path, padded with zeros.
    pub path: [u8; 1024],
}

/// A code location and the class of the event there.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// Entry of the module.
    pub module: u32,
    /// One of [`class`]; [`class::ANY`] matches every event.
    pub class: u32,
    /// The return address of the hook call, relative to the module's start; [`ANYWHERE`] matches
    /// every location.
    pub offset: u64,
}

/// In [`Point::offset`]: matches every location.
pub const ANYWHERE: u64 = u64::MAX;

/// How a segment ends: in [`Segment::until`].
pub mod until {
    /// Before the event with index [`super::Segment::count`].
    pub const EVENT: u32 = 0;
    /// Before the `count`-th event of the segment that is at one of its points.
    pub const BEFORE: u32 = 1;
    /// After the `count`-th event of the segment that is at one of its points.
    pub const AFTER: u32 = 2;
    /// When the thread blocks.
    pub const BLOCKS: u32 = 3;
    /// When the thread ends.
    pub const ENDS: u32 = 4;
    /// When a wait of the thread has timed out.
    pub const TIMEOUT: u32 = 5;
}

/// A part of a schedule: one thread runs up to a point.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment {
    /// Entry of the thread's name.
    pub thread: u32,
    /// One of [`until`].
    pub until: u32,
    /// Which event; see [`until`].
    pub count: u64,
    /// The first of its points. For [`until::EVENT`] the event must be at one of the points.
    pub point: u32,
    /// Number of its points.
    pub points: u32,
}

/// The classes of events, for [`Point::class`].
pub mod class {
    /// Any event.
    pub const ANY: u32 = 0;
    /// A memory read.
    pub const READ: u32 = 1;
    /// A memory write.
    pub const WRITE: u32 = 2;
    /// An atomic operation.
    pub const ATOMIC: u32 = 3;
    /// Acquiring a lock.
    pub const LOCK: u32 = 4;
    /// Releasing a lock.
    pub const UNLOCK: u32 = 5;
    /// A condition wait begins.
    pub const WAIT: u32 = 6;
    /// A condition wait reacquires its mutex.
    pub const WAKE: u32 = 7;
    /// A signal or broadcast.
    pub const NOTIFY: u32 = 8;
    /// Arriving at or leaving a barrier.
    pub const BARRIER: u32 = 9;
    /// Decrementing a semaphore.
    pub const SEM_WAIT: u32 = 10;
    /// Incrementing a semaphore.
    pub const SEM_POST: u32 = 11;
    /// Creating a thread.
    pub const FORK: u32 = 12;
    /// Joining a thread.
    pub const JOIN: u32 = 13;
    /// Allocating memory.
    pub const ALLOC: u32 = 14;
    /// Freeing memory.
    pub const FREE: u32 = 15;
    /// A once-only initialisation.
    pub const ONCE: u32 = 16;
    /// Sleeping or yielding.
    pub const SLEEP: u32 = 17;
    /// Any other event.
    pub const OTHER: u32 = 18;
    /// Calling a function whose calls are recorded.
    pub const CALL: u32 = 19;
    /// Returning from such a function.
    pub const RETURN: u32 = 20;
    /// A mark of the program.
    pub const MARK: u32 = 21;
}

/// What the runtime detected: in [`Outcome::verdict`].
pub mod verdict {
    /// Nothing so far.
    pub const NONE: u32 = 0;
    /// No thread can ever continue.
    pub const DEADLOCK: u32 = 1;
    /// All threads that can continue spin, and no thread changes what they read.
    pub const LIVELOCK: u32 = 2;
    /// The run exceeded the maximum number of events of the plan.
    pub const STEPS: u32 = 3;
    /// A freed block was accessed.
    pub const USE_AFTER_FREE: u32 = 4;
    /// A block was freed twice.
    pub const DOUBLE_FREE: u32 = 5;
    /// An address was freed at which no block begins.
    pub const BAD_FREE: u32 = 6;
    /// Memory next to a block was accessed.
    pub const OUT_OF_BOUNDS: u32 = 7;
    /// The schedule reached its end, and the plan asked to stop there.
    pub const STOPPED: u32 = 8;
    /// A synchronization object was used after it was destroyed.
    pub const USE_AFTER_DESTROY: u32 = 9;
    /// A thread released a lock that it did not hold.
    pub const UNLOCK_NOT_HELD: u32 = 10;
    /// A thread waited on a condition variable with a mutex that it did not hold.
    pub const WAIT_NOT_HELD: u32 = 11;
    /// A thread waited for a lock that it held itself.
    pub const RELOCK: u32 = 12;
    /// An object was destroyed while a thread held it or waited on it.
    pub const DESTROY_IN_USE: u32 = 13;
    /// A thread ended while it held a lock.
    pub const END_HOLDING_LOCK: u32 = 14;
    /// A descriptor was used after another thread had closed it.
    pub const USE_AFTER_CLOSE: u32 = 15;
    /// A descriptor was closed after another thread had closed it.
    pub const DOUBLE_CLOSE: u32 = 16;
    /// A descriptor was closed while another thread was in a call on it.
    pub const CLOSE_IN_USE: u32 = 17;
}

/// How far a schedule was followed: in [`Outcome::follow`].
pub mod follow {
    /// There is no schedule.
    pub const NONE: u32 = 0;
    /// It is being followed.
    pub const GOING: u32 = 1;
    /// It was followed to its end.
    pub const DONE: u32 = 2;
    /// A thread reached another event than the expected one, or ended before it.
    pub const DIVERGED: u32 = 3;
    /// A thread that was due could not continue, or did not exist.
    pub const INFEASIBLE: u32 = 4;
}

/// Why a thread that was due could not continue: in [`Outcome::why`].
pub mod why {
    /// It blocks in an operation of [`super::Outcome::kind`].
    pub const BLOCKED: u32 = 1;
    /// It has ended.
    pub const ENDED: u32 = 2;
    /// It was never created.
    pub const ABSENT: u32 = 3;
    /// It spins.
    pub const SPINS: u32 = 4;
    /// It is in a system call or in uninstrumented code.
    pub const AWAY: u32 = 5;
    /// It reached another event.
    pub const OTHER_EVENT: u32 = 6;
}

/// The result of a controlled run, as the runtime observed it.
#[repr(C)]
#[derive(Debug)]
pub struct Outcome {
    /// One of [`verdict`]; written last.
    pub verdict: AtomicU32,
    /// The number of the thread that the verdict is about.
    pub thread: AtomicU32,
    /// The entry of the process that the verdict is about.
    pub process: AtomicU32,
    /// One of [`follow`].
    pub follow: AtomicU32,
    /// Number of segments that were followed to their ends.
    pub segment: AtomicU32,
    /// One of [`why`], if the run left the schedule.
    pub why: AtomicU32,
    /// The number of the thread that left the schedule.
    pub left_by: AtomicU32,
    /// The kind of the event that this thread reached and could not or should not execute.
    pub kind: AtomicU32,
    /// The code location of that event.
    pub pc: AtomicU64,
    /// The object of that event.
    pub object: AtomicU64,
    /// The index of that event among those of the thread.
    pub index: AtomicU64,
    /// The code location of the memory error.
    pub error_pc: AtomicU64,
    /// The address of the invalid access.
    pub error_addr: AtomicU64,
    /// The heap block of the invalid access.
    pub block: AtomicU64,
    /// The fatal signal that our handler caught; 0 if none.
    pub signal: AtomicU32,
    /// The number of the thread that received the signal.
    pub signal_thread: AtomicU32,
    /// The code location of the signal.
    pub signal_pc: AtomicU64,
    /// The address of the faulting access.
    pub signal_addr: AtomicU64,
    /// Number of events of all threads so far.
    pub steps: AtomicU64,
    /// Number of context switches.
    pub switches: AtomicU64,
    /// How often a thread was in uninstrumented code, or waited for another process, while other
    /// threads could run.
    pub away: AtomicU64,
    /// How often the program read input that is not controlled.
    pub inputs: AtomicU64,
    /// How many atomic loads returned an older store than the newest one.
    pub older: AtomicU64,
    /// Length of `text` in bytes.
    pub text_len: AtomicU32,
    /// The message of the failed assertion.
    pub text: [u8; 1012],
    /// How often the program asked for the id of a process, which differs from run to run.
    pub process_ids: AtomicU64,
}
