//! Our side of the shared memory: options, processes, slots, losses. The chunks of a slot are in
//! [`chunk`].

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

pub use self::chunk::{define, finish, make_room, start};
use crate::{control, function, hook, sys};

/// The mapped arena; null in a process that is not recorded.
static BASE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// The mapped arena in a process that found no entry: only to count its children.
static CLOSED: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// The entry of this process.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The arena's options, kept where they are quick to read.
static OPTIONS: AtomicU32 = AtomicU32::new(0);

/// Somebody waits for the recorder, or for another thread of ours.
static AWAITED: AtomicBool = AtomicBool::new(false);

/// Whether somebody waits for the recorder, or in another way that is not the program's.
pub fn is_awaited() -> bool {
    AWAITED.load(Ordering::Relaxed)
}

/// Waits, by `f`, for the recorder or another thread of ours: however long that takes, the thread
/// is not in code that we do not see.
pub fn awaiting<T>(f: impl FnOnce() -> T) -> T {
    AWAITED.store(true, Ordering::Relaxed);
    let result = f();
    AWAITED.store(false, Ordering::Relaxed);
    result
}

/// How long a thread waits for the recorder before it looks whether there still is one.
const PATIENCE: u64 = 500_000_000;

/// Maps the arena at `path`, a C string. False if that is not one for us.
///
/// # Safety
/// `path` is a C string, and no other thread runs yet.
pub unsafe fn open(path: *const u8) -> bool {
    // SAFETY: the path is a C string; what is mapped is checked before it is used.
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

/// Says in the arena's first page, for which there is room, that there is none for the rest.
///
/// # Safety
/// `path` is a C string.
unsafe fn count_unmapped(path: *const u8) {
    // SAFETY: as `open`.
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

/// The next sequence number; see [`crate::number`].
#[inline(always)]
pub fn counter() -> &'static AtomicU64 {
    &control().seq.0
}

/// Whether all events are numbered in one total order.
#[inline(always)]
pub fn is_global() -> bool {
    OPTIONS.load(Ordering::Relaxed) & arena::GLOBAL != 0
}

/// Whether values are kept.
pub fn values() -> bool {
    OPTIONS.load(Ordering::Relaxed) & arena::VALUES != 0
}

/// When a block's content can be read.
pub fn content(write: bool) -> Content {
    match (values(), write) {
        (false, _) => Content::None,
        (true, false) => Content::Now,
        (true, true) => Content::Later,
    }
}

/// The hooks for a thread that records.
pub fn table() -> &'static hook::Table {
    let global = is_global();
    let named = function::is_wanted();
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

/// What the tool wants, if it wants more than a recording.
#[inline(always)]
pub fn plan() -> &'static Plan {
    &control().plan
}

/// Where we say what came of it.
pub fn outcome() -> &'static Outcome {
    &control().outcome
}

/// The part of the arena at `offset` as `count` values, of which there are `most` at most.
fn table_of<T>(offset: usize, count: u32, most: usize) -> &'static [T] {
    // SAFETY: inside the arena, which the tool filled before we were there; any bytes are good.
    unsafe {
        let first = BASE.load(Ordering::Relaxed).add(offset).cast();
        core::slice::from_raw_parts(first, (count as usize).min(most))
    }
}

/// The threads of the schedule.
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

/// Where we ask about functions.
pub fn inquiry() -> &'static Inquiry {
    // SAFETY: inside the arena.
    unsafe { &*BASE.load(Ordering::Relaxed).add(arena::INQUIRY_OFFSET).cast() }
}

/// What is kept of what comes from outside, and what is fed back.
pub fn inputs() -> &'static Inputs {
    // SAFETY: inside the arena.
    unsafe { &*BASE.load(Ordering::Relaxed).add(arena::INPUT_OFFSET).cast() }
}

/// The room for what is fed back, and the one for what is kept.
pub fn input_room(number: usize) -> *mut u8 {
    let offset = arena::INPUT_OFFSET + size_of::<Inputs>() + number * ROOM;
    // SAFETY: inside the arena.
    unsafe { BASE.load(Ordering::Relaxed).add(offset) }
}

/// Waits for the answer to a question about functions. False if nobody is there to answer.
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
    // SAFETY: inside the arena.
    unsafe { &*BASE.load(Ordering::Relaxed).add(offset).cast() }
}

/// Takes an entry for a process that is about to be; its number, or none if all are taken. Such a
/// process is not recorded, but counted.
pub fn take_process() -> Option<u32> {
    let number = control().processes.fetch_add(1, Ordering::SeqCst);
    if (number as usize) < PROCESSES {
        return Some(number);
    }
    control().unentered.fetch_add(1, Ordering::Relaxed);
    None
}

/// In the parent: the process of entry `number` is there, even if it did nothing yet. The
/// recorder must not leave without it.
pub fn announce_process(number: u32, pid: u32) {
    let entry = process_entry(number);
    // SAFETY: parent and child write the same, and before the `pid`.
    unsafe { (&raw const entry.parent).cast_mut().write_volatile(process_number()) };
    let _ = entry.pid.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Relaxed);
    ring_bell();
}

/// There will be no process for what [`take_process`] gave.
pub fn cancel_process(taken: Option<u32>) {
    match taken {
        Some(number) => process_entry(number).pid.store(arena::NO_PROCESS, Ordering::Release),
        None => {
            control().unentered.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Makes entry `number` this process's own.
pub fn become_process(number: u32, parent: u32) {
    let entry = process_entry(number);
    PROCESS.store(number, Ordering::Relaxed);
    // SAFETY: the entry is ours alone until its `pid` is set.
    unsafe { (&raw const entry.parent).cast_mut().write_volatile(parent) };
    entry.pid.store(sys::process_id(), Ordering::Release);
    ring_bell();
}

/// In a process that could not get an entry: nothing more is recorded.
pub fn abandon() {
    CLOSED.store(BASE.swap(core::ptr::null_mut(), Ordering::Relaxed), Ordering::Relaxed);
}

/// In a forked child of a process that could not get an entry: it has none either.
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
        // SAFETY: inside the arena; the state decides who owns the rest.
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

fn slot(number: usize) -> *mut ThreadSlot {
    let offset = SLOT_OFFSET + number * size_of::<ThreadSlot>();
    // SAFETY: inside the arena.
    unsafe { BASE.load(Ordering::Relaxed).add(offset).cast() }
}

/// Gives a slot that was never used back.
///
/// # Safety
/// The slot was taken by the caller, and no thread has used it.
pub unsafe fn return_slot(slot: *mut ThreadSlot) {
    // SAFETY: the caller took it.
    unsafe { (*slot).head.state.store(state::FREE, Ordering::Release) };
}

/// The thread for which there was no slot is not there either.
pub fn return_no_slot() {
    control().unslotted.fetch_sub(1, Ordering::Relaxed);
}

/// Tells the recorder that there is something to do.
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
/// The slot is the current thread's and no stand.
pub unsafe fn lose(slot: *mut ThreadSlot) {
    // SAFETY: the slot is ours.
    let lost = unsafe { &(*slot).head.lost };
    lost.store(lost.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Counts an event of a thread that is past its end.
pub fn lose_late() {
    if is_open() {
        control().late.fetch_add(1, Ordering::Relaxed);
    }
}
