//! What the tools and the runtime agree on when the runtime decides which thread goes next.
//!
//! The tool writes a [`Plan`], and for a plan that follows a schedule the tables behind the
//! slots; the runtime obeys them and writes an [`Outcome`].
//!
//! ```text
//! [ ... slots | Name 0 .. | Module 0 .. | Point 0 .. | Segment 0 .. ]
//! ```

use core::sync::atomic::{AtomicU32, AtomicU64};

pub use strategy::StrategyKind;

/// How the next thread is chosen: in [`Plan::strategy`].
pub mod strategy;

/// What comes after the end of a schedule: in [`Plan::after`].
pub mod after {
    /// The threads go on in turn.
    pub const FAIR: u32 = 0;
    /// Nobody chooses any more.
    pub const FREE: u32 = 1;
    /// The program is ended.
    pub const STOP: u32 = 2;
}

/// When the time of a wait runs out while a schedule is followed: in [`Plan::timeouts`].
pub mod timeouts {
    /// When the clock says so, or when the thread is due and waits.
    pub const BY_CLOCK: u32 = 0;
    /// When the schedule says so.
    pub const LISTED: u32 = 1;
}

/// What the runtime is to do.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// One of [`strategy`].
    pub strategy: u32,
    /// One of [`after`].
    pub after: u32,
    /// Feeds everything that is random.
    pub seed: u64,
    /// For [`strategy::PCT`]: how many orders of events a bug needs, at most.
    pub depth: u32,
    /// For [`strategy::ROUND_ROBIN`]: events of a turn. For [`strategy::RANDOM`]: their mean
    /// number; 0 lets the seed choose one.
    pub quantum: u32,
    /// For [`strategy::PCT`]: how many events the program is expected to have.
    pub expected: u64,
    /// Events after which the run counts as hanging.
    pub max_steps: u64,
    /// What the clock of the time of day says at the start, in nanoseconds.
    pub realtime: u64,
    /// What all other clocks say at the start, in nanoseconds.
    pub monotonic: u64,
    /// The process that follows the schedule, by its entry.
    pub process: u32,
    /// Whether a thread that finds the program stuck leaves it so, for a debugger to look at.
    pub linger: u32,
    /// One of [`timeouts`].
    pub timeouts: u32,
    /// Entries in the tables.
    pub names: u32,
    /// Entries in the tables.
    pub modules: u32,
    /// Entries in the tables.
    pub points: u32,
    /// Entries in the tables.
    pub segments: u32,
    /// [`crate::input::KEEP`] and [`crate::input::FEED`].
    pub inputs: u32,
}

/// A thread of a schedule. The first entry is the first thread.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Name {
    /// The entry of its parent.
    pub parent: u32,
    /// Which child it is, from 1.
    pub child: u32,
}

/// A module in which a schedule has points.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// Its path, padded with zeros.
    pub path: [u8; 1024],
}

/// A place in the code and what is done there.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// Entry of the module.
    pub module: u32,
    /// One of [`class`]; [`class::ANY`] for whatever is done there.
    pub class: u32,
    /// Where the call of the hook returns to, from the module's start; [`ANYWHERE`] for any place.
    pub offset: u64,
}

/// In [`Point::offset`]: wherever it is.
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
    /// When the time of a wait of the thread has run out.
    pub const TIMEOUT: u32 = 5;
}

/// A part of a schedule: one thread goes on, up to a point.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment {
    /// Entry of the thread's name.
    pub thread: u32,
    /// One of [`until`].
    pub until: u32,
    /// Which event; see [`until`].
    pub count: u64,
    /// The first of its points. For [`until::EVENT`] the points are where the event must be.
    pub point: u32,
    /// How many points it has.
    pub points: u32,
}

/// What an event is about, for [`Point::class`].
pub mod class {
    /// Anything.
    pub const ANY: u32 = 0;
    /// A memory read.
    pub const READ: u32 = 1;
    /// A memory write.
    pub const WRITE: u32 = 2;
    /// An atomic operation.
    pub const ATOMIC: u32 = 3;
    /// Taking a lock.
    pub const LOCK: u32 = 4;
    /// Giving a lock back.
    pub const UNLOCK: u32 = 5;
    /// A condition wait begins.
    pub const WAIT: u32 = 6;
    /// A condition wait takes its mutex again.
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
    /// Waiting for a thread's end.
    pub const JOIN: u32 = 13;
    /// Allocating memory.
    pub const ALLOC: u32 = 14;
    /// Freeing memory.
    pub const FREE: u32 = 15;
    /// A once-only initialisation.
    pub const ONCE: u32 = 16;
    /// Sleeping or yielding.
    pub const SLEEP: u32 = 17;
    /// Whatever is left.
    pub const OTHER: u32 = 18;
    /// Calling a function whose calls are recorded.
    pub const CALL: u32 = 19;
    /// Returning from such a function.
    pub const RETURN: u32 = 20;
    /// What the program marks.
    pub const MARK: u32 = 21;
}

/// What the runtime found: in [`Outcome::verdict`].
pub mod verdict {
    /// Nothing so far.
    pub const NONE: u32 = 0;
    /// Nobody can ever go on.
    pub const DEADLOCK: u32 = 1;
    /// Whoever can go on spins, and nobody changes what they look at.
    pub const LIVELOCK: u32 = 2;
    /// There were more events than the plan allows.
    pub const STEPS: u32 = 3;
    /// A freed block was accessed.
    pub const USE_AFTER_FREE: u32 = 4;
    /// A block was freed twice.
    pub const DOUBLE_FREE: u32 = 5;
    /// Something was freed that is no block.
    pub const BAD_FREE: u32 = 6;
    /// Memory next to a block was accessed.
    pub const OUT_OF_BOUNDS: u32 = 7;
    /// The schedule was at its end, and that was all that was wanted.
    pub const STOPPED: u32 = 8;
    /// A lock or the like was used after it was destroyed.
    pub const USE_AFTER_DESTROY: u32 = 9;
}

/// How a schedule was followed: in [`Outcome::follow`].
pub mod follow {
    /// There was none.
    pub const NONE: u32 = 0;
    /// It is being followed.
    pub const GOING: u32 = 1;
    /// To its end.
    pub const DONE: u32 = 2;
    /// A thread came to another event than the one that was expected, or ended before it.
    pub const DIVERGED: u32 = 3;
    /// A thread that was due could not go on, or was not there.
    pub const INFEASIBLE: u32 = 4;
}

/// Why a thread that was due could not go on: in [`Outcome::why`].
pub mod why {
    /// It is at [`super::Outcome::kind`] and cannot go on.
    pub const BLOCKED: u32 = 1;
    /// It has ended.
    pub const ENDED: u32 = 2;
    /// It was never created.
    pub const ABSENT: u32 = 3;
    /// It spins.
    pub const SPINS: u32 = 4;
    /// It is in a system call, or in code that we do not see.
    pub const AWAY: u32 = 5;
    /// It came to another event.
    pub const OTHER_EVENT: u32 = 6;
}

/// What came of it, as far as the runtime knows.
#[repr(C)]
#[derive(Debug)]
pub struct Outcome {
    /// One of [`verdict`]; set last.
    pub verdict: AtomicU32,
    /// The thread it is about, by its number.
    pub thread: AtomicU32,
    /// The process it is about, by its entry.
    pub process: AtomicU32,
    /// One of [`follow`].
    pub follow: AtomicU32,
    /// Segments that were followed to their ends.
    pub segment: AtomicU32,
    /// One of [`why`], if the schedule was left.
    pub why: AtomicU32,
    /// The number of the thread with which it was left.
    pub left_by: AtomicU32,
    /// The kind of the event that this thread came to, and could or should not do.
    pub kind: AtomicU32,
    /// Where that is.
    pub pc: AtomicU64,
    /// On what.
    pub object: AtomicU64,
    /// Which of its events that is.
    pub index: AtomicU64,
    /// Where the memory error is.
    pub error_pc: AtomicU64,
    /// Which address it is about.
    pub error_addr: AtomicU64,
    /// The block that it is about.
    pub block: AtomicU64,
    /// The signal by which the program is about to die, as our handler saw it; 0 if none.
    pub signal: AtomicU32,
    /// The thread that it hit, by its number.
    pub signal_thread: AtomicU32,
    /// Where that was.
    pub signal_pc: AtomicU64,
    /// The address that could not be accessed.
    pub signal_addr: AtomicU64,
    /// Events so far, of all threads.
    pub steps: AtomicU64,
    /// How often another thread had the turn.
    pub switches: AtomicU64,
    /// How often a thread was in code that we do not see, or waited for another process, while
    /// others could go on.
    pub away: AtomicU64,
    /// How often the program asked for input that is not controlled.
    pub inputs: AtomicU64,
    /// Bytes of `text`.
    pub text_len: AtomicU32,
    /// The text of the assertion that failed.
    pub text: [u8; 1020],
}
