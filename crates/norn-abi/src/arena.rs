//! The memory that a subject and its recorder share.
//!
//! One file without a name, mapped by the recorder and by every recorded process:
//!
//! ```text
//! [ Control | Process 0 .. | ThreadSlot 0 | ThreadSlot 1 | ... | schedule | questions | inputs ]
//! ```
//!
//! A thread owns a slot while it lives. It appends to the current chunk of the slot's ring with
//! plain stores; the pointer that says how far it came lies in the same shared memory, so
//! whatever ends the process, the recorder still sees every event up to the last whole one. Full
//! chunks are written to disk by the recorder, which then hands them back. A subject therefore
//! holds no file of ours open, and a full disk is the recorder's trouble, not the subject's.
//!
//! A forked child inherits the mapping, takes a process entry and slots of its own, and needs
//! nothing else.
//!
//! Offsets and sizes are fixed by the types below. The recorder must not trust what it reads:
//! the subject may have bugs, that is why it is here.

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::{
    control::{Module, Name, Outcome, Plan, Point, Segment},
    function::Inquiry,
    input::{self, Inputs},
    lane::Lane,
};

/// First word of the control page.
pub const MAGIC: u64 = u64::from_le_bytes(*b"norn-rt\0");
/// First word of a chunk.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"NRNc");
/// Bytes of a chunk, header included.
pub const CHUNK: usize = 256 << 10;
/// Chunks in a thread's ring.
pub const RING: usize = 4;
/// Processes that can be recorded in one run.
pub const PROCESSES: usize = 1024;
/// Threads that can be alive at once, in all processes together.
pub const THREADS: usize = 4096;
/// Threads that a schedule can name.
pub const NAMES: usize = 1 << 16;
/// Modules in which a schedule can have points.
pub const MODULES: usize = 64;
/// Points that a schedule can have.
pub const POINTS: usize = 1 << 20;
/// Segments that a schedule can have.
pub const SEGMENTS: usize = 1 << 20;
/// Frames of a call stack that a thread remembers; deeper ones are counted only.
pub const FRAMES: usize = 65536;
/// Frames of a call stack that a chunk can begin with.
pub const CHUNK_FRAMES: usize = 4096;
/// Differs between builds that lay the arena out differently, should someone forget the version.
#[expect(clippy::cast_possible_truncation, reason = "it is to be different, not a size")]
pub const LAYOUT: u32 = {
    let slot = size_of::<ThreadSlot>() + core::mem::offset_of!(ThreadSlot, frames);
    let tables = SIZE - SLOT_OFFSET + size_of::<Plan>() + 31 * size_of::<Outcome>();
    (slot + 7 * tables + CHUNK) as u32
};
/// Environment variable with the path of the arena.
pub const ENV: &str = "NORN_ARENA";
/// Set in [`Control::options`]: keep the values of memory accesses.
pub const VALUES: u32 = 1;
/// Set in [`Control::options`]: number all events in one total order.
pub const GLOBAL: u32 = 2;

/// The first page: what holds for the whole run.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Control {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`crate::VERSION`] of the recorder.
    pub version: u32,
    /// [`VALUES`] and [`GLOBAL`].
    pub options: u32,
    /// [`LAYOUT`] of the recorder.
    pub layout: u32,
    /// The recorder's process.
    pub recorder: u32,
    /// Set by the recorder when nothing more is to be recorded: one of the `STOP_` values.
    pub stop: AtomicU32,
    /// Counts up whenever a chunk is full or a thread or process comes or goes.
    pub bell: AtomicU32,
    /// Set while the recorder sleeps on `bell`.
    pub asleep: AtomicU32,
    /// Processes that were built by another version and cannot be recorded.
    pub strangers: AtomicU32,
    /// Processes so far.
    pub processes: AtomicU32,
    /// Slots ever used: those above have never been touched.
    pub slots: AtomicU32,
    /// Threads, and runs of signal handlers, that found no slot.
    pub unslotted: AtomicU32,
    /// Processes that found no entry.
    pub unentered: AtomicU32,
    /// Processes in whose address space there was no room for the arena.
    pub unmapped: AtomicU32,
    /// Events of threads that were past their end.
    pub late: AtomicU64,
    /// The next sequence number, or what everyone's next one is not before. On a cache line of its
    /// own, since everyone looks at it.
    pub seq: Line<AtomicU64>,
    /// Which thread goes next, if we are to decide that.
    pub plan: Plan,
    /// What came of it.
    pub outcome: Outcome,
}

/// Puts a value on a cache line of its own.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Line<T>(pub T);

/// In [`Process::pid`]: it was to be forked and could not be.
pub const NO_PROCESS: u32 = u32::MAX;

/// Recording goes on.
pub const STOP_NO: u32 = 0;
/// The trace has reached its largest size.
pub const STOP_SIZE: u32 = 1;
/// The trace could not be written.
pub const STOP_DISK: u32 = 2;
/// The recorder is gone.
pub const STOP_RECORDER: u32 = 3;

/// One process of the run.
#[repr(C)]
#[derive(Debug)]
pub struct Process {
    /// Its id; 0 while the entry is being filled.
    pub pid: AtomicU32,
    /// The entry of the process that forked it; its own for the first, or after an `exec`.
    pub parent: u32,
    /// Threads so far; gives the next thread its number.
    pub threads: AtomicU32,
    /// 1 + status when it called `exit` or `_exit`.
    pub exiting: AtomicU32,
}

/// Where a slot is in its life.
pub mod state {
    /// Nobody's.
    pub const FREE: u32 = 0;
    /// Taken, not yet started.
    pub const TAKEN: u32 = 1;
    /// A thread appends to it.
    pub const LIVE: u32 = 2;
    /// Its thread is gone; the recorder takes the rest and frees it.
    pub const DONE: u32 = 3;
}

/// What a stream of events belongs to.
pub mod role {
    /// A thread that was created by a recorded one; or the first of the process.
    pub const THREAD: u32 = 0;
    /// Signal handlers that interrupted the parent.
    pub const HANDLER: u32 = 1;
    /// A thread of unknown origin, met in a hook.
    pub const FOREIGN: u32 = 2;
}

/// What the recorder must know about a slot.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Head {
    /// One of [`state`].
    pub state: AtomicU32,
    /// Entry of the thread's process.
    pub process: u32,
    /// The thread's number in its process, in order of creation.
    pub thread: u32,
    /// The number of its parent; its own for the first.
    pub parent: u32,
    /// Which child of its parent it is, from 1.
    pub child: u32,
    /// One of [`role`].
    pub role: u32,
    /// Kernel's id of the thread.
    pub tid: u32,
    /// Chunks filled so far.
    pub filled: AtomicU32,
    /// Chunks taken by the recorder so far.
    pub taken: AtomicU32,
    /// Kind of the operation in which the thread blocks; 0 when it does not.
    pub blocked: AtomicU32,
    /// Object of that operation.
    pub blocked_on: AtomicU64,
    /// Where it was called.
    pub blocked_at: AtomicU64,
    /// Events that could not be recorded.
    pub lost: AtomicU64,
    /// Address of this head in the subject.
    pub home: AtomicU64,
}

/// A frame of the shadow call stack.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Where the function returns to.
    pub call: usize,
    /// The stack pointer when it was entered.
    pub sp: usize,
}

/// All of a thread's shared memory.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct ThreadSlot {
    /// The hooks that this thread runs; must be first, the hook stubs load it.
    pub table: *const (),
    /// Its encoder.
    pub lane: Lane,
    /// For the recorder.
    pub head: Head,
    /// Number of frames, which may be more than are kept.
    pub depth: usize,
    /// Events so far. Only counted while we decide which thread goes next.
    pub steps: u64,
    /// When there were this many events, the scheduler must be asked.
    pub stop_at: AtomicU64,
    /// How many events there were when the thread last changed anything that others can see.
    pub effect: u64,
    /// Where its last memory access is, and at which address. Kept like `steps`.
    pub access: (usize, usize),
    /// The runtime's own, of no concern to the recorder.
    pub own: [usize; 40],
    /// The frames.
    pub frames: [Frame; FRAMES],
    /// The chunks.
    pub ring: [Chunk; RING],
}

/// A chunk in memory.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Chunk {
    /// What is in it.
    pub header: ChunkHeader,
    /// The frames at its start, then the records.
    pub bytes: [u8; CHUNK - size_of::<ChunkHeader>()],
}

/// What begins every chunk, in memory and on disk. Makes it readable alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkHeader {
    /// [`CHUNK_MAGIC`].
    pub magic: u32,
    /// Checksum (CRC-32) of everything after this field, filled in by the recorder.
    pub crc: u32,
    /// Bytes after the header: frames and records.
    pub len: u32,
    /// Entry of the process.
    pub process: u32,
    /// The thread's number.
    pub thread: u32,
    /// The number of its parent.
    pub parent: u32,
    /// Which child of its parent it is.
    pub child: u32,
    /// One of [`role`].
    pub role: u32,
    /// Which chunk of the thread this is.
    pub index: u32,
    /// [`VALUES`] and [`GLOBAL`].
    pub options: u32,
    /// Frames on the call stack at the start.
    pub depth: u32,
    /// How many of them follow the header, outermost first, 8 bytes each.
    pub frames: u32,
    /// The thread's last sequence number before the chunk.
    pub last_seq: u64,
    /// Kernel's id of the thread.
    pub tid: u32,
    /// 0.
    pub reserved: u32,
}

/// Where process entries begin.
pub const PROCESS_OFFSET: usize = size_of::<Control>();
/// Where slots begin.
pub const SLOT_OFFSET: usize =
    (PROCESS_OFFSET + PROCESSES * size_of::<Process>()).next_multiple_of(4096);
/// Where the names of a schedule's threads begin.
pub const NAME_OFFSET: usize = SLOT_OFFSET + THREADS * size_of::<ThreadSlot>();
/// Where the modules of a schedule begin.
pub const MODULE_OFFSET: usize = NAME_OFFSET + NAMES * size_of::<Name>();
/// Where the points of a schedule begin.
pub const POINT_OFFSET: usize = MODULE_OFFSET + MODULES * size_of::<Module>();
/// Where the segments of a schedule begin.
pub const SEGMENT_OFFSET: usize = POINT_OFFSET + POINTS * size_of::<Point>();
/// Where questions about functions are asked.
pub const INQUIRY_OFFSET: usize =
    (SEGMENT_OFFSET + SEGMENTS * size_of::<Segment>()).next_multiple_of(4096);
/// Where inputs are kept and fed back.
pub const INPUT_OFFSET: usize = (INQUIRY_OFFSET + size_of::<Inquiry>()).next_multiple_of(4096);
/// Size of the arena; most of it is never touched.
pub const SIZE: usize = INPUT_OFFSET + size_of::<Inputs>() + 2 * input::ROOM;

const _: () = {
    assert!(size_of::<ChunkHeader>() == 64);
    assert!(size_of::<Chunk>() == CHUNK);
    assert!(size_of::<Process>() == 16);
    assert!(size_of::<Control>() == 4096);
    assert!(size_of::<usize>() == 8);
};
