//! The runtime's side of the shared memory: options, processes, slots and counters of lost events.
//! The chunks of a slot are in [`chunk`].

mod chunk;

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use norn_abi::{
    arena::{
        self, Control, PROCESS_OFFSET, PROCESSES, Process, SLOT_OFFSET, THREADS, ThreadSlot, state,
    },
    control::{Module, Name, Outcome, Plan, Point, Segment},
    function::{Inquiry, state as question},
    input::{Inputs, ROOM},
    lane::Content,
};

pub use self::chunk::{define, finish, is_stopped, make_room, start, table_of_stopped};
use crate::{collect, control, function, hook, sys};

/// The mapped arena; null in a process that is not recorded.
static BASE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// The mapped arena of a process that got no entry in the process table. It is used only to count
/// the children of that process.
static CLOSED: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// The number of this process's entry.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// A copy of the arena's options, in a static that the hot paths read with one relaxed load.
static OPTIONS: AtomicU32 = AtomicU32::new(0);

/// True while a thread waits for the recorder or for another thread inside the runtime.
static AWAITED: AtomicBool = AtomicBool::new(false);

/// Whether a thread waits for the recorder, or waits inside the runtime for another reason that the
/// program did not cause.
pub fn is_awaited() -> bool {
    AWAITED.load(Ordering::Relaxed)
}

/// Runs `f`, which waits for the recorder or for another thread inside the runtime. The flag tells
/// the scheduler that such a wait, however long, is not time spent in uninstrumented code.
pub fn awaiting<T>(f: impl FnOnce() -> T) -> T {
    AWAITED.store(true, Ordering::Relaxed);
    let result = f();
    AWAITED.store(false, Ordering::Relaxed);
    result
}

/// Nanoseconds that a thread waits for the recorder before it checks whether the recorder still
/// lives.
const PATIENCE: u64 = 500_000_000;

/// Maps the arena at `path`, a C string. Returns false if the file is not an arena of this version.
///
/// # Safety
/// `path` is a C string, and no other thread runs yet.
pub unsafe fn open(path: *const u8) -> bool {
    // SAFETY: the path is a C string; the header of the mapping is checked before anything else is
    // used.
    unsafe {
        let base = sys::map_file(path, arena::SIZE);
        if base.is_null() {
            count_unmapped(path);
            return false;
        }
        let control = &*base.cast::<Control>();
        let ours = (arena::MAGIC, norn_abi::VERSION, arena::LAYOUT);
        if (control.magic, control.version, control.layout) != ours {
            control.strangers.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        OPTIONS.store(control.options, Ordering::Relaxed);
        BASE.store(base, Ordering::Release);
    }
    true
}

/// Reports in the arena's first page that this process could not map the rest. Address space for
/// one page may still be available where the whole arena does not fit.
///
/// # Safety
/// `path` is a C string.
unsafe fn count_unmapped(path: *const u8) {
    // SAFETY: as in `open`, the path is a C string.
    unsafe {
        let base = sys::map_file(path, size_of::<Control>());
        if !base.is_null() && (*base.cast::<Control>()).magic == arena::MAGIC {
            (*base.cast::<Control>()).unmapped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Whether this process is recorded.
#[inline(always)]
pub fn is_open() -> bool {
    !BASE.load(Ordering::Relaxed).is_null()
}

fn control() -> &'static Control {
    // SAFETY: only called once the arena is open; it is never unmapped.
    unsafe { &*BASE.load(Ordering::Relaxed).cast() }
}

/// The counter of sequence numbers; see [`crate::number`].
#[inline(always)]
pub fn counter() -> &'static AtomicU64 {
    &control().seq.0
}

/// Whether all events are numbered in one total order.
#[inline(always)]
pub fn is_global() -> bool {
    OPTIONS.load(Ordering::Relaxed) & arena::GLOBAL != 0
}

/// Whether the values of accesses are recorded.
pub fn values() -> bool {
    OPTIONS.load(Ordering::Relaxed) & arena::VALUES != 0
}

/// Whether interleaving patterns are to be collected.
pub fn collects() -> bool {
    OPTIONS.load(Ordering::Relaxed) & arena::COLLECT != 0
}

/// Whether accesses at frequent sites are left out while patterns are collected.
pub fn backs_off() -> bool {
    OPTIONS.load(Ordering::Relaxed) & arena::OBSERVE_ALL == 0
}

/// The part of the arena at an offset.
pub fn at(offset: usize) -> *mut u8 {
    // SAFETY: the offset lies inside the arena, which is never unmapped.
    unsafe { BASE.load(Ordering::Relaxed).add(offset) }
}

/// When the content of a block can be read: before the access, after it, or never.
pub fn content(write: bool) -> Content {
    match (values(), write) {
        (false, _) => Content::None,
        (true, false) => Content::Now,
        (true, true) => Content::Later,
    }
}

/// The hook table for a thread that records.
pub fn table() -> &'static hook::Table {
    let global = is_global();
    let named = function::is_wanted();
    if collect::is_only() {
        return match (collect::is_here(), backs_off()) {
            (false, _) => &hook::SILENT,
            (true, false) => &hook::COLLECT,
            (true, true) => &hook::COLLECT_SOME,
        };
    }
    match (values(), global, control::was_on()) {
        (true, _, true) if named => &hook::NAMED[3],
        (false, _, true) if named => &hook::NAMED[4],
        (_, true, false) if named => &hook::NAMED[2],
        (true, false, false) if named => &hook::NAMED[0],
        (false, false, false) if named => &hook::NAMED[1],
        (true, _, true) => &hook::CONTROL,
        (false, _, true) => &hook::CONTROL_BARE,
        (_, true, false) => &hook::GLOBAL,
        (true, false, false) => &hook::RECORD,
        (false, false, false) => &hook::RECORD_BARE,
    }
}

/// The plan of the tool for a controlled run; its strategy is `NONE` if the run is only recorded.
#[inline(always)]
pub fn plan() -> &'static Plan {
    &control().plan
}

/// The part of the arena in which the runtime reports the outcome of the plan.
pub fn outcome() -> &'static Outcome {
    &control().outcome
}

/// The part of the arena at `offset` as a slice of `count` values, limited to `most`.
fn table_of<T>(offset: usize, count: u32, most: usize) -> &'static [T] {
    // SAFETY: the range is inside the arena, and the tool filled it before it started the program;
    // every bit pattern is valid for `T`.
    unsafe {
        let first = BASE.load(Ordering::Relaxed).add(offset).cast();
        core::slice::from_raw_parts(first, (count as usize).min(most))
    }
}

/// The names of the threads in the schedule.
pub fn schedule_names() -> &'static [Name] {
    table_of(arena::NAME_OFFSET, plan().names, arena::NAMES)
}

/// The modules of the schedule.
pub fn schedule_modules() -> &'static [Module] {
    table_of(arena::MODULE_OFFSET, plan().modules, arena::MODULES)
}

/// The points of the schedule.
pub fn points() -> &'static [Point] {
    table_of(arena::POINT_OFFSET, plan().points, arena::POINTS)
}

/// The segments of the schedule.
pub fn segments() -> &'static [Segment] {
    table_of(arena::SEGMENT_OFFSET, plan().segments, arena::SEGMENTS)
}

/// The part of the arena in which the runtime asks the recorder about functions.
pub fn inquiry() -> &'static Inquiry {
    // SAFETY: the offset lies inside the arena, which is never unmapped.
    unsafe { &*BASE.load(Ordering::Relaxed).add(arena::INQUIRY_OFFSET).cast() }
}

/// The header of the recorded inputs and of the inputs that are replayed.
pub fn inputs() -> &'static Inputs {
    // SAFETY: the offset lies inside the arena, which is never unmapped.
    unsafe { &*BASE.load(Ordering::Relaxed).add(arena::INPUT_OFFSET).cast() }
}

/// The buffer of the inputs to replay (0) or of the recorded inputs (1).
pub fn input_room(number: usize) -> *mut u8 {
    let offset = arena::INPUT_OFFSET + size_of::<Inputs>() + number * ROOM;
    // SAFETY: the offset lies inside the arena, which is never unmapped.
    unsafe { BASE.load(Ordering::Relaxed).add(offset) }
}

/// Waits for the recorder's answer to a question about functions. Returns false if no recorder is
/// left to answer.
pub fn wait_for_answer() -> bool {
    let state = &inquiry().state;
    ring_bell();
    while state.load(Ordering::Acquire) == question::ASKED {
        if control().stop.load(Ordering::Acquire) == arena::STOP_RECORDER
            || !sys::alive(control().recorder)
        {
            return false;
        }
        awaiting(|| sys::futex_wait(state.as_ptr(), question::ASKED, PATIENCE));
    }
    true
}

/// The number of this process's entry.
pub fn process_number() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}

/// The entry of this process.
pub fn process() -> &'static Process {
    process_entry(process_number())
}

fn process_entry(number: u32) -> &'static Process {
    let offset = PROCESS_OFFSET + number as usize % PROCESSES * size_of::<Process>();
    // SAFETY: the offset lies inside the arena, which is never unmapped.
    unsafe { &*BASE.load(Ordering::Relaxed).add(offset).cast() }
}

/// Takes an entry for a process that is about to be created. Returns its number, or none if all
/// entries are taken; such a process is counted, but not recorded.
pub fn take_process() -> Option<u32> {
    let number = control().processes.fetch_add(1, Ordering::SeqCst);
    if (number as usize) < PROCESSES {
        return Some(number);
    }
    control().unentered.fetch_add(1, Ordering::Relaxed);
    None
}

/// In the parent: marks the process of entry `number` as existing, even if it has not run yet. The
/// recorder must not exit before such a process.
pub fn announce_process(number: u32, pid: u32) {
    let entry = process_entry(number);
    // SAFETY: parent and child write the same value, and both write it before `pid`.
    unsafe { (&raw const entry.parent).cast_mut().write_volatile(process_number()) };
    let _ = entry.pid.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Relaxed);
    ring_bell();
}

/// Releases what [`take_process`] returned, because the process was not created after all.
pub fn cancel_process(taken: Option<u32>) {
    match taken {
        Some(number) => process_entry(number).pid.store(arena::NO_PROCESS, Ordering::Release),
        None => {
            control().unentered.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Makes entry `number` the entry of this process.
pub fn become_process(number: u32, parent: u32) {
    let entry = process_entry(number);
    PROCESS.store(number, Ordering::Relaxed);
    // SAFETY: until `pid` is set, no other process reads or writes the entry.
    unsafe { (&raw const entry.parent).cast_mut().write_volatile(parent) };
    entry.pid.store(sys::process_id(), Ordering::Release);
    ring_bell();
}

/// In a process that got no entry: stops recording.
pub fn abandon() {
    CLOSED.store(BASE.swap(core::ptr::null_mut(), Ordering::Relaxed), Ordering::Relaxed);
}

/// In a forked child of a process that got no entry: counts the child, which has none either.
pub fn count_unentered() {
    let base = CLOSED.load(Ordering::Relaxed);
    if !base.is_null() {
        // SAFETY: the arena is never unmapped.
        unsafe { &*base.cast::<Control>() }.unentered.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes a free slot.
pub fn take_slot() -> Option<*mut ThreadSlot> {
    let slots = &control().slots;
    for number in 0..THREADS {
        let slot = slot(number);
        // SAFETY: the slot is inside the arena; its state decides which thread owns the rest of it.
        let state = unsafe { &(*slot).head.state };
        let (free, taken) = (state::FREE, state::TAKEN);
        if state.compare_exchange(free, taken, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            slots.fetch_max(number as u32 + 1, Ordering::AcqRel);
            return Some(slot);
        }
    }
    control().unslotted.fetch_add(1, Ordering::Relaxed);
    None
}

/// All slots that were ever used, also those of other processes.
pub fn slots() -> impl Iterator<Item = *mut ThreadSlot> {
    let count = control().slots.load(Ordering::Acquire) as usize;
    (0..count.min(THREADS)).map(slot)
}

fn slot(number: usize) -> *mut ThreadSlot {
    let offset = SLOT_OFFSET + number * size_of::<ThreadSlot>();
    // SAFETY: the offset lies inside the arena, which is never unmapped.
    unsafe { BASE.load(Ordering::Relaxed).add(offset).cast() }
}

/// Returns a slot that was never used.
///
/// # Safety
/// The slot was taken by the caller, and no thread has used it.
pub unsafe fn return_slot(slot: *mut ThreadSlot) {
    // SAFETY: the caller took the slot.
    unsafe { (*slot).head.state.store(state::FREE, Ordering::Release) };
}

/// Undoes the count of a thread without a slot: the thread was not created after all.
pub fn return_no_slot() {
    control().unslotted.fetch_sub(1, Ordering::Relaxed);
}

/// Wakes the recorder, because there is work for it.
pub fn ring_bell() {
    let control = control();
    control.bell.fetch_add(1, Ordering::SeqCst);
    if control.asleep.load(Ordering::SeqCst) != 0 {
        sys::futex_wake(control.bell.as_ptr());
    }
}

/// Counts an event that this thread could not record.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn lose(slot: *mut ThreadSlot) {
    // SAFETY: the slot belongs to the current thread.
    let lost = unsafe { &(*slot).head.lost };
    lost.store(lost.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Counts an event of a thread that has already ended its recording.
pub fn lose_late() {
    if is_open() {
        control().late.fetch_add(1, Ordering::Relaxed);
    }
}
