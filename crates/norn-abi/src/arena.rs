//! The memory that a subject and its recorder share.
//!
//! One anonymous file, mapped by the recorder and by every recorded process:
//!
//! ```text
//! [ Control | Process 0 .. | ThreadSlot 0 | ... | schedule | questions | inputs | patterns ]
//! ```
//!
//! A thread owns a slot while it lives. It appends to the current chunk of the slot's ring with
//! plain stores. The write position lies in the same shared memory, so the recorder sees every
//! event up to the last complete one, however the process ends. The recorder writes full chunks to
//! disk and returns them to the ring. The subject therefore holds none of our files open, and a
//! full disk stops the recorder, not the subject.
//!
//! A forked child inherits the mapping and takes a process entry and slots of its own.
//!
//! The types below fix all offsets and sizes. The recorder validates what it reads: a bug of the
//! subject may have overwritten it.

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
/// Maximum number of frames that the shadow call stack of a thread stores; deeper ones are only
/// counted.
pub const FRAMES: usize = 65536;
/// Maximum number of call stack frames at the start of a chunk.
pub const CHUNK_FRAMES: usize = 4096;
/// Differs between builds with different arena layouts, as a safeguard for a missed version bump.
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
/// In [`ChunkHeader::options`]: the chunk is coded as [`Codec::V2`](crate::codec::Codec::V2) says.
pub const CODEC_V2: u32 = 4;
/// Set in [`Control::options`]: collect interleaving patterns. Without a plan, accesses are not recorded.
pub const COLLECT: u32 = 8;
/// Set in [`Control::options`], with [`COLLECT`]: observe all accesses, also at frequent sites.
pub const OBSERVE_ALL: u32 = 16;

/// The first page: settings and counters of the whole run.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Control {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`crate::VERSION`] of the recorder.
    pub version: u32,
    /// [`VALUES`], [`GLOBAL`], [`COLLECT`] and [`OBSERVE_ALL`].
    pub options: u32,
    /// [`LAYOUT`] of the recorder.
    pub layout: u32,
    /// The process id of the recorder.
    pub recorder: u32,
    /// Set by the recorder to stop recording: one of the `STOP_` values.
    pub stop: AtomicU32,
    /// A futex word, incremented when a chunk is full or when a thread or process starts or ends.
    pub bell: AtomicU32,
    /// Set while the recorder sleeps on `bell`.
    pub asleep: AtomicU32,
    /// Number of processes that were built by another version and cannot be recorded.
    pub strangers: AtomicU32,
    /// Number of processes so far.
    pub processes: AtomicU32,
    /// Number of slots that were ever used; the slots above have never been touched.
    pub slots: AtomicU32,
    /// Number of threads, and of signal handler runs, for which no slot was free.
    pub unslotted: AtomicU32,
    /// Number of processes for which no entry was free.
    pub unentered: AtomicU32,
    /// Number of processes whose address space had no room for the arena.
    pub unmapped: AtomicU32,
    /// Number of events of threads after their end.
    pub late: AtomicU64,
    /// The next sequence number, or a lower bound of every thread's next one. On a cache line of
    /// its own, since all threads access it.
    pub seq: Line<AtomicU64>,
    /// How the runtime schedules threads, if it does.
    pub plan: Plan,
    /// The result of a controlled run.
    pub outcome: Outcome,
}

/// Aligns a value to a cache line of its own.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Line<T>(pub T);

/// In [`Process::pid`]: the `fork` that reserved the entry failed.
pub const NO_PROCESS: u32 = u32::MAX;

/// Recording continues.
pub const STOP_NO: u32 = 0;
/// The trace has reached its maximum size.
pub const STOP_SIZE: u32 = 1;
/// The trace could not be written.
pub const STOP_DISK: u32 = 2;
/// The recorder has ended.
pub const STOP_RECORDER: u32 = 3;

/// One process of the run.
#[repr(C)]
#[derive(Debug)]
pub struct Process {
    /// Its process id; 0 while the entry is being filled.
    pub pid: AtomicU32,
    /// The entry of the process that forked it; its own entry for the first process and after an
    /// `exec`.
    pub parent: u32,
    /// Number of threads so far, which is the number of the next thread.
    pub threads: AtomicU32,
    /// 1 + exit status once it has called `exit` or `_exit`.
    pub exiting: AtomicU32,
}

/// The states of a slot.
pub mod state {
    /// No thread owns it.
    pub const FREE: u32 = 0;
    /// A thread owns it but has not started yet.
    pub const TAKEN: u32 = 1;
    /// A thread appends to it.
    pub const LIVE: u32 = 2;
    /// Its thread has ended; the recorder takes the remaining chunks and frees the slot.
    pub const DONE: u32 = 3;
}

/// The origins of a stream of events.
pub mod role {
    /// A thread that a recorded thread created, or the first thread of the process.
    pub const THREAD: u32 = 0;
    /// Signal handlers that interrupted the parent thread.
    pub const HANDLER: u32 = 1;
    /// A thread of unknown origin that reached a hook.
    pub const FOREIGN: u32 = 2;
}

/// The part of a slot that the recorder reads.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Head {
    /// One of [`state`].
    pub state: AtomicU32,
    /// Entry of the thread's process.
    pub process: u32,
    /// The thread's number in its process, in order of creation.
    pub thread: u32,
    /// The number of its parent; its own number for the first thread.
    pub parent: u32,
    /// Which child of its parent it is, from 1.
    pub child: u32,
    /// One of [`role`].
    pub role: u32,
    /// The kernel's id of the thread.
    pub tid: u32,
    /// Chunks filled so far.
    pub filled: AtomicU32,
    /// Chunks taken by the recorder so far.
    pub taken: AtomicU32,
    /// Kind of the operation in which the thread blocks; 0 if it does not block.
    pub blocked: AtomicU32,
    /// Object of that operation.
    pub blocked_on: AtomicU64,
    /// The call site of that operation.
    pub blocked_at: AtomicU64,
    /// Number of events that could not be recorded.
    pub lost: AtomicU64,
    /// Address of this head in the subject.
    pub home: AtomicU64,
}

/// A frame of the shadow call stack.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// The return address of the function.
    pub call: usize,
    /// The stack pointer when it was entered.
    pub sp: usize,
}

/// Number of counters of visits of code locations.
pub const VISITS: usize = 1024;

/// The shared memory of one thread.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct ThreadSlot {
    /// The hook table of this thread. It must be first, because the hook stubs load it from offset
    /// 0.
    pub table: *const (),
    /// The encoder.
    pub lane: Lane,
    /// The part that the recorder reads.
    pub head: Head,
    /// Number of frames, which may exceed the number of stored frames.
    pub depth: usize,
    /// Number of events so far. Counted only in controlled runs.
    pub steps: u64,
    /// The number of events at which the thread must call the scheduler.
    pub stop_at: AtomicU64,
    /// The number of events when the thread last had an effect that other threads can observe.
    pub effect: u64,
    /// Code location and address of its last memory access. Maintained like `steps`.
    pub access: (usize, usize),
    /// Private data of the runtime, which the recorder does not read.
    pub own: [usize; 64],
    /// By code location: which of the thread's visits are left out, while patterns are collected.
    pub visits: [i16; VISITS],
    /// The frames.
    pub frames: [Frame; FRAMES],
    /// The chunks.
    pub ring: [Chunk; RING],
}

/// A chunk in memory.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Chunk {
    /// Describes the content.
    pub header: ChunkHeader,
    /// The frames at its start, then the records.
    pub bytes: [u8; CHUNK - size_of::<ChunkHeader>()],
}

/// The header of every chunk, in memory and on disk. With it a chunk can be decoded alone.
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
    /// Which child of its parent it is, from 1.
    pub child: u32,
    /// One of [`role`].
    pub role: u32,
    /// The index of the chunk among those of its thread.
    pub index: u32,
    /// [`VALUES`], [`GLOBAL`] and [`CODEC_V2`].
    pub options: u32,
    /// Frames on the call stack at the start.
    pub depth: u32,
    /// How many of these follow the header, outermost first, 8 bytes each.
    pub frames: u32,
    /// The thread's last sequence number before the chunk.
    pub last_seq: u64,
    /// The kernel's id of the thread.
    pub tid: u32,
    /// Always 0.
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
/// Where inquiries about functions begin.
pub const INQUIRY_OFFSET: usize =
    (SEGMENT_OFFSET + SEGMENTS * size_of::<Segment>()).next_multiple_of(4096);
/// Where recorded and replayed inputs begin.
pub const INPUT_OFFSET: usize = (INQUIRY_OFFSET + size_of::<Inquiry>()).next_multiple_of(4096);
/// Where collected patterns and the windows of shared variables begin.
pub const COLLECT_OFFSET: usize =
    (INPUT_OFFSET + size_of::<Inputs>() + 2 * input::ROOM).next_multiple_of(4096);
/// The room for them.
pub const COLLECT_SIZE: usize = 4 << 30;
/// Size of the arena; most of it is never touched.
pub const SIZE: usize = COLLECT_OFFSET + COLLECT_SIZE;

const _: () = {
    assert!(size_of::<ChunkHeader>() == 64);
    assert!(size_of::<Chunk>() == CHUNK);
    assert!(size_of::<Process>() == 16);
    assert!(size_of::<Control>() == 4096);
    assert!(size_of::<usize>() == 8);
};
