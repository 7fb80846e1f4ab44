//! The recorder's side of the shared memory. Nothing in it is trusted: a faulty subject may have
//! overwritten any of it.
#![expect(unsafe_code, reason = "shared memory is reached through raw pointers")]
#![expect(clippy::cast_ptr_alignment, reason = "mappings begin at pages, offsets are page-sized")]

use std::{
    ffi::OsStr,
    io,
    marker::PhantomData,
    mem::offset_of,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::PathBuf,
    slice,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use memmap2::{MmapOptions, MmapRaw};
use norn_abi::{
    arena::{
        self, CHUNK, COLLECT_OFFSET, COLLECT_SIZE, ChunkHeader, Control, Head, INPUT_OFFSET,
        INQUIRY_OFFSET, MODULE_OFFSET, NAME_OFFSET, POINT_OFFSET, PROCESS_OFFSET, PROCESSES,
        Process, RING, SEGMENT_OFFSET, SLOT_OFFSET, THREADS, ThreadSlot, VISITS,
    },
    function::{FUNCTIONS, Function, Inquiry, REDIRECTS, state},
    input::{Inputs, ROOM},
    rust_std::Redirect,
};
use norn_frontend::Launch;
use norn_trace::Order;
use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create},
    thread::futex,
};

use crate::{input, limit};

/// The shared memory.
#[derive(Debug)]
pub(crate) struct Arena {
    map: MmapRaw,
    file: OwnedFd,
}

impl Arena {
    /// Creates and initializes it for the first process.
    pub(crate) fn create(launch: &Launch, wanted: Option<&crate::Control>) -> io::Result<Arena> {
        let file = memfd_create("norn", MemfdFlags::CLOEXEC)?;
        limit::with_any_size(|| ftruncate(&file, arena::SIZE as u64))?;
        let map = MmapOptions::new().len(arena::SIZE).no_reserve_swap().map_raw(&file)?;
        let arena = Arena { map, file };
        let control = arena.map.as_mut_ptr().cast::<Control>();
        let global = if launch.order == Order::Global { arena::GLOBAL } else { 0 };
        // SAFETY: no other process has mapped the memory yet, and it is zero, a valid `Control`.
        unsafe {
            (*control).magic = arena::MAGIC;
            (*control).version = norn_abi::VERSION;
            (*control).layout = arena::LAYOUT;
            let collect = match launch.collect {
                None => 0,
                Some(it) if it.observe_all => arena::COLLECT | arena::OBSERVE_ALL,
                Some(_) => arena::COLLECT,
            };
            let values = if launch.values { arena::VALUES } else { 0 };
            (*control).options = global | values | collect;
            (*control).recorder = std::process::id();
            (*control).seq.0.store(1, Ordering::Relaxed);
        }
        if let Some(wanted) = wanted {
            arena.plan(wanted, launch.keep_inputs);
        }
        arena.inquiry().wanted.store(u32::from(!launch.functions.is_empty()), Ordering::Relaxed);
        Ok(arena)
    }

    /// Writes the plan and the tables of its schedule, whose sizes the caller has checked.
    fn plan(&self, wanted: &crate::Control, keep_inputs: bool) {
        let control = self.map.as_mut_ptr().cast::<Control>();
        // SAFETY: no other process has mapped the memory yet.
        unsafe { (*control).plan = wanted.plan(keep_inputs) };
        self.table(NAME_OFFSET, &wanted.names);
        self.table(MODULE_OFFSET, &wanted.modules);
        self.table(POINT_OFFSET, &wanted.points);
        self.table(SEGMENT_OFFSET, &wanted.segments);
        let fed = input::encode(&wanted.inputs);
        self.table(INPUT_OFFSET + size_of::<Inputs>(), &fed);
        self.inputs().fed.store(fed.len() as u64, Ordering::Relaxed);
    }

    fn table<T: Copy>(&self, offset: usize, entries: &[T]) {
        assert!(offset + size_of_val(entries) <= arena::SIZE, "the table is inside the arena");
        // SAFETY: inside the mapping, in a part that no other process accesses: none has mapped it yet,
        // or the runtime waits for the answer. The entries are plain numbers, and the offsets are
        // multiples of their alignment.
        unsafe {
            let to = self.map.as_mut_ptr().add(offset).cast::<T>();
            to.copy_from_nonoverlapping(entries.as_ptr(), entries.len());
        }
    }

    /// The path by which a subject opens it. It always has the same length, because it is in the
    /// environment of the subject, and what follows it there must have the same address in every run.
    pub(crate) fn path(&self) -> String {
        const DIGITS: usize = 20;
        let (process, file) = (std::process::id().to_string(), self.file.as_raw_fd());
        let room = DIGITS - process.len();
        format!("/proc/{process}/fd/{file:/>room$}")
    }

    pub(crate) fn control(&self) -> &Control {
        // SAFETY: the mapping is large enough; all fields that the subject changes are atomic.
        unsafe { &*self.map.as_ptr().cast() }
    }

    /// The processes that have attached so far.
    pub(crate) fn processes(&self) -> &[Process] {
        let count = self.control().processes.load(Ordering::Acquire) as usize;
        // SAFETY: inside the mapping; `parent` is written before `pid` is.
        unsafe {
            let first = self.map.as_ptr().add(PROCESS_OFFSET).cast();
            slice::from_raw_parts(first, count.min(PROCESSES))
        }
    }

    /// Whether a process with this id has attached.
    pub(crate) fn has_process(&self, pid: u32) -> bool {
        self.processes().iter().any(|it| it.pid.load(Ordering::Acquire) == pid)
    }

    /// The heads of all slots that were ever used.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        let count = self.control().slots.load(Ordering::Acquire) as usize;
        (0..count.min(THREADS)).map(move |number| {
            // SAFETY: inside the mapping.
            let at = unsafe { self.map.as_ptr().add(SLOT_OFFSET).cast::<ThreadSlot>().add(number) };
            Slot { at, arena: PhantomData }
        })
    }

    /// Sleeps until the bell differs from `seen`, for at most 50 ms.
    pub(crate) fn sleep(&self, seen: u32) {
        let control = self.control();
        control.asleep.store(1, Ordering::SeqCst);
        if control.bell.load(Ordering::SeqCst) == seen {
            let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            // The result does not matter: the caller checks again in any case.
            let _ = futex::wait(&control.bell, futex::Flags::empty(), seen, Some(&time));
        }
        control.asleep.store(0, Ordering::SeqCst);
    }

    /// The runtime's inquiry which functions of a module to instrument.
    pub(crate) fn inquiry(&self) -> &Inquiry {
        // SAFETY: inside the mapping; all fields that the subject changes are atomic except the path,
        // for which any bytes are valid.
        unsafe { &*self.map.as_ptr().add(INQUIRY_OFFSET).cast() }
    }

    /// The results of recording inputs and of feeding them back.
    pub(crate) fn inputs(&self) -> &Inputs {
        // SAFETY: inside the mapping; all fields that the subject changes are atomic.
        unsafe { &*self.map.as_ptr().add(INPUT_OFFSET).cast() }
    }

    /// The inputs that the runtime has recorded.
    pub(crate) fn kept_inputs(&self) -> &[u8] {
        let len = self.inputs().kept.load(Ordering::Acquire);
        let len = usize::try_from(len).unwrap_or(ROOM).min(ROOM);
        // SAFETY: inside the mapping; if the subject still writes, the bytes are damaged at worst.
        unsafe {
            let start = self.map.as_ptr().add(INPUT_OFFSET + size_of::<Inputs>() + ROOM);
            slice::from_raw_parts(start, len)
        }
    }

    /// The memory of collected patterns.
    pub(crate) fn collected(&self) -> &[AtomicU64] {
        // SAFETY: inside the mapping; any number is valid in these words.
        unsafe {
            let start = self.map.as_ptr().add(COLLECT_OFFSET).cast();
            slice::from_raw_parts(start, COLLECT_SIZE / size_of::<AtomicU64>())
        }
    }

    /// The path of the module that the runtime asks about.
    pub(crate) fn asked_path(&self) -> PathBuf {
        let inquiry = self.inquiry();
        let len = (inquiry.len.load(Ordering::Relaxed) as usize).min(inquiry.path.len());
        OsStr::from_bytes(&inquiry.path[..len]).into()
    }

    /// Answers the runtime's inquiry.
    pub(crate) fn answer(&self, functions: &[Function]) {
        self.answer_with(&functions[..functions.len().min(FUNCTIONS)]);
    }

    /// Answers the runtime's inquiry about calls of Rust's standard library.
    pub(crate) fn answer_redirects(&self, redirects: &[Redirect]) {
        self.answer_with(&redirects[..redirects.len().min(REDIRECTS)]);
    }

    fn answer_with<T: Copy>(&self, rows: &[T]) {
        self.table(INQUIRY_OFFSET + offset_of!(Inquiry, functions), rows);
        let inquiry = self.inquiry();
        let count = u32::try_from(rows.len()).unwrap_or(0);
        inquiry.count.store(count, Ordering::Relaxed);
        inquiry.state.store(state::ANSWERED, Ordering::Release);
        wake(&inquiry.state);
    }

    /// Rings the bell from the recorder's side.
    pub(crate) fn ring(&self) {
        self.control().bell.fetch_add(1, Ordering::SeqCst);
        wake(&self.control().bell);
    }
}

/// Wakes all threads that wait on the futex `word`.
fn wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

/// One thread's slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    at: *const ThreadSlot,
    arena: PhantomData<&'a Arena>,
}

impl<'a> Slot<'a> {
    pub(crate) fn head(self) -> &'a Head {
        // SAFETY: inside the mapping, which lives as long as `arena`; a faulty subject can only make
        // the numbers in it wrong.
        unsafe { &(*self.at).head }
    }

    /// The counters of code locations. The subject has ended.
    pub(crate) fn visits(self) -> [i16; VISITS] {
        // SAFETY: inside the mapping; any numbers are valid.
        unsafe { (&raw const (*self.at).visits).read_volatile() }
    }

    /// Chunk `index`, which the subject has handed over or left behind: its header for the trace, and
    /// its bytes in shared memory.
    pub(crate) fn chunk(self, index: u32, len: Option<usize>) -> (ChunkHeader, &'a [u8]) {
        let most = CHUNK - size_of::<ChunkHeader>();
        // SAFETY: inside the mapping. The subject does not write to a chunk that it handed over; if a
        // wild pointer does, the bytes are damaged, which readers of traces accept.
        unsafe {
            let chunk = &raw const (*self.at).ring[index as usize % RING];
            let mut header = (*chunk).header;
            let len = len.unwrap_or(header.len as usize).min(most);
            header.len = u32::try_from(len).unwrap_or(0);
            (header, slice::from_raw_parts((&raw const (*chunk).bytes).cast(), len))
        }
    }

    /// Number of bytes of chunk `index` that the thread has written, if it has begun it.
    pub(crate) fn partial(self, index: u32) -> Option<usize> {
        // SAFETY: inside the mapping.
        let cur = unsafe { (&raw const (*self.at).lane.cur).read_volatile() } as usize;
        let home = usize::try_from(self.head().home.load(Ordering::Acquire)).ok()?;
        let ring = std::mem::offset_of!(ThreadSlot, ring);
        let start = home + ring + index as usize % RING * CHUNK + size_of::<ChunkHeader>();
        let len = cur.checked_sub(start)?;
        (len > 0 && len <= CHUNK - size_of::<ChunkHeader>()).then_some(len)
    }

    /// Hands the oldest full chunk back to the subject.
    pub(crate) fn take(self) {
        self.head().taken.fetch_add(1, Ordering::Release);
        wake(&self.head().taken);
    }

    /// Releases the slot for another thread.
    pub(crate) fn free(self) {
        self.head().state.store(arena::state::FREE, Ordering::Release);
    }
}
