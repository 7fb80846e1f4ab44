//! Collects interleaving patterns while the program runs ([`norn_window`]), in place of a trace of its
//! accesses, or beside one in a controlled run.
//!
//! Shadow memory is private to the process; windows and patterns are in the arena, where the recorder
//! finds them, however the process ends. Of the processes of a run, only the first one is observed: a
//! forked child has other variables at the same addresses.

mod delay;

use core::{
    cell::UnsafeCell,
    mem::MaybeUninit,
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering},
};

use norn_abi::{
    Kind,
    arena::{COLLECT_OFFSET, COLLECT_SIZE, ThreadSlot},
};
use norn_sched::mix;
use norn_window::{
    AccessKind, Counter, REGION, Shadow, Shared, ThreadWord,
    back_off::{self, Burst},
};

use crate::{arena, control, hook, intercept::alloc, sys, thread::own};

/// Whether patterns are collected; one of the states below.
static STATE: AtomicU32 = AtomicU32::new(OFF);
/// Nothing is collected.
const OFF: u32 = 0;
/// Patterns are collected, and events are recorded.
const BESIDE: u32 = 1;
/// Only patterns are collected.
const ONLY: u32 = 2;
/// Only patterns are collected, but not of this process.
const ELSEWHERE: u32 = 3;

/// User space on x86-64.
const ADDRESSES: usize = 1 << 47;
/// The address space for the words of private memory: as much as the program has touched, doubled.
const POOL: usize = 1 << 37;

/// Set once, before [`STATE`], while the process has one thread.
struct Memory(UnsafeCell<MaybeUninit<Shadow<'static>>>);

// SAFETY: written before any other thread exists, and only read afterwards.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new(MaybeUninit::uninit()));
/// Words of shadow memory that are taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The time in which accesses at frequent sites are observed, too.
static BURST: Burst = Burst::new();
/// Number of patterns when a burst last began because of a new one.
static KNOWN: AtomicU64 = AtomicU64::new(0);

/// Whether patterns of this process are collected.
#[inline(always)]
pub fn is_on() -> bool {
    STATE.load(Ordering::Relaxed) != OFF
}

/// Whether no events of accesses and synchronization are recorded.
#[inline(always)]
pub fn is_only() -> bool {
    STATE.load(Ordering::Relaxed) >= ONLY
}

/// Whether the accesses of this process are observed.
#[inline(always)]
pub fn is_here() -> bool {
    matches!(STATE.load(Ordering::Relaxed), BESIDE | ONLY)
}

/// The shadow memory.
///
/// # Safety
/// Patterns of this process are collected.
#[inline(always)]
pub unsafe fn shadow() -> &'static Shadow<'static> {
    // SAFETY: initialised before `STATE` was set.
    unsafe { (*MEMORY.0.get()).assume_init_ref() }
}

/// Starts to collect patterns if the tool asks for it.
///
/// # Safety
/// The process has one thread, and the arena is open.
pub unsafe fn start() {
    if !arena::collects() {
        return;
    }
    let beside = arena::plan().strategy != 0;
    // SAFETY: guaranteed by the caller.
    let state = match unsafe { prepare() } {
        Some(()) if beside => BESIDE,
        Some(()) => ONLY,
        None if beside => OFF,
        None => ELSEWHERE,
    };
    STATE.store(state, Ordering::Relaxed);
}

/// Maps the shadow memory. Returns none if another process is observed, or if there is no room.
///
/// # Safety
/// The process has one thread, and the arena is open.
unsafe fn prepare() -> Option<()> {
    let words = |start: usize, bytes: usize| {
        // SAFETY: mapped above or part of the arena, zeroed, and never unmapped.
        unsafe { core::slice::from_raw_parts(start as *const AtomicU64, bytes / 8) }
    };
    let shared = words(arena::at(COLLECT_OFFSET) as usize, COLLECT_SIZE);
    let shared = Shared::new(shared, wait)?;
    let process = u64::from(arena::process_number()) + 1;
    let first = shared.counter(Counter::Process);
    if first.compare_exchange(0, process, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        shared.count(Counter::OtherProcesses);
        return None;
    }
    let map = |bytes: usize| {
        let start = sys::map_private(bytes)?;
        sys::exclude_from_core_files(start, bytes);
        Some(words(start, bytes))
    };
    let regions = (|| Some([map(ADDRESSES / REGION * 8)?, map(POOL)?]))();
    let Some(regions) = regions else {
        shared.count(Counter::Missed);
        return None;
    };
    // SAFETY: no other thread exists.
    unsafe { (*MEMORY.0.get()).write(Shadow::new(regions, &TAKEN, shared)) };
    Some(())
}

/// Between two looks for a lock.
fn wait(look: u32) {
    if look % 64 == 63 { sys::yield_now() } else { core::hint::spin_loop() }
}

/// In a forked child: its variables are not those that are observed.
pub fn after_fork() {
    if is_here() {
        // SAFETY: patterns are collected.
        unsafe { shadow() }.shared.count(Counter::OtherProcesses);
        STATE.store(if is_only() { ELSEWHERE } else { OFF }, Ordering::Relaxed);
    }
}

/// Gives a slot whose head is filled in the word of its thread. The accesses of a thread whose number is
/// too large are not observed.
///
/// # Safety
/// The slot belongs to the caller.
pub unsafe fn attach(slot: *mut ThreadSlot) {
    if is_here() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let word = ThreadWord::new((*slot).head.thread);
            // The counters may be those of a thread that has ended.
            let before = back_off::left_out((*slot).visits);
            shadow().shared.counter(Counter::LeftOut).fetch_add(before, Ordering::Relaxed);
            (*slot).visits.fill(0);
            news();
            (*own(slot)).word = word.unwrap_or_default().bits();
            if word.is_none() && is_only() {
                (*slot).table = (&raw const hook::SILENT).cast();
            }
        }
    }
}

/// The thread of a slot; none if there are too many, or if its accesses are not observed.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn thread(slot: *mut ThreadSlot) -> Option<ThreadWord> {
    // SAFETY: guaranteed by the caller.
    let bits = unsafe { (*own(slot)).word };
    (bits != 0).then_some(ThreadWord::from_bits(bits))
}

/// Whether all threads observe everything now.
pub fn is_burst() -> bool {
    BURST.is_on() && BURST.goes_on(sys::ticks())
}

/// A site is observed again, after many accesses that were left out.
///
/// # Safety
/// Patterns are collected.
#[cold]
pub unsafe fn resume() {
    // SAFETY: guaranteed by the caller.
    let left_out = unsafe { shadow() }.shared.counter(Counter::LeftOut);
    left_out.fetch_add(back_off::LEFT_OUT_AT_ONCE, Ordering::Relaxed);
    let now = sys::ticks();
    if BURST.maybe(now, mix(now)) {
        observe_all();
    }
}

/// Something new was seen.
#[cold]
fn news() {
    if arena::backs_off() && is_only() {
        BURST.news(sys::ticks());
        observe_all();
    }
}

/// Lets all threads observe everything, until each of them notices that the burst is over. Only this
/// process has the table that is replaced. A thread that changes its table itself at the same moment keeps
/// what it has stored, as the exchange then fails or is overwritten.
fn observe_all() {
    let some = (&raw const hook::COLLECT_SOME).cast_mut().cast();
    let burst = (&raw const hook::COLLECT_BURST).cast_mut().cast();
    for slot in arena::slots() {
        // SAFETY: slots are never unmapped, and the word of a table is aligned.
        let table = unsafe { AtomicPtr::<()>::from_ptr((&raw mut (*slot).table).cast()) };
        let _ = table.compare_exchange(some, burst, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Whether an access to a block, or an atomic operation, is left out.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
unsafe fn is_left_out(slot: *mut ThreadSlot, pc: usize) -> bool {
    if STATE.load(Ordering::Relaxed) != ONLY || !arena::backs_off() || is_burst() {
        return false;
    }
    // SAFETY: guaranteed by the caller; patterns are collected.
    unsafe {
        if back_off::is_left_out(&mut (*slot).visits, pc) {
            return true;
        }
        if back_off::observe(&mut (*slot).visits, pc) {
            resume();
        }
    }
    false
}

/// Observes an access to a block.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn range(slot: *mut ThreadSlot, write: bool, block: (usize, usize), pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !is_left_out(slot, pc) {
            access(slot, write, block, pc);
        }
    }
}

/// Observes an access that is about to happen, to memory of which the thread is not known to be the
/// only user.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and patterns are collected.
#[inline(never)]
pub unsafe fn access(slot: *mut ThreadSlot, write: bool, (addr, size): (usize, usize), pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !is_here() {
            return;
        }
        let Some(by) = thread(slot) else { return shadow().shared.count(Counter::Missed) };
        if shadow().is_shared(addr) {
            delay::maybe(slot);
        }
        if shadow().is_kept(by, (addr, size), write, pc) {
            return;
        }
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        shadow().access(by, (addr as u64, size as u64), kind, (pc as u64, sys::ticks()));
        let patterns = shadow().shared.counter(Counter::Patterns).load(Ordering::Relaxed);
        if patterns != KNOWN.load(Ordering::Relaxed) {
            KNOWN.store(patterns, Ordering::Relaxed);
            news();
        }
    }
}

/// Observes an atomic operation, a read unless it changes the object.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn atomic(slot: *mut ThreadSlot, kind: Kind, addr: usize, size: usize, pc: usize) {
    let write = !matches!(kind, Kind::AtomicLoad | Kind::AtomicCasFailed);
    // SAFETY: guaranteed by the caller.
    unsafe { range(slot, write, (addr, size), pc) };
}

/// A thread is about to create another one.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn fork(slot: *mut ThreadSlot, child: u32) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(by) = thread(slot).filter(|_| is_here()) {
            (*own(slot)).word = shadow().shared.fork(by, child).bits();
        }
    }
}

/// Observes an event other than an access. Returns whether it is recorded, too.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(never)]
pub unsafe fn event(
    slot: *mut ThreadSlot,
    kind: Kind,
    pc: usize,
    addr: usize,
    args: &[u64],
) -> bool {
    use Kind as K;
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(by) = thread(slot).filter(|_| is_here()) {
            let size = args.first().copied().unwrap_or(0);
            let freed = |size: u64| {
                shadow().free_block(by, (addr as u64, size), (pc as u64, sys::ticks()));
            };
            match kind {
                K::Begin | K::Alloc | K::Map => shadow().end_block(addr as u64, size),
                K::Free => freed(alloc::size_of_block(addr) as u64),
                K::Unmap => freed(size),
                K::Join => (*own(slot)).word = shadow().shared.join(by, addr as u32).bits(),
                _ => delay::maybe(slot),
            }
        }
    }
    // The rest of a trace without accesses: its threads.
    control::was_on() || matches!(kind, K::Begin | K::End | K::Fork | K::Join | K::Detach)
}

/// Announces the code of a module.
pub fn code(start: usize, end: usize) {
    if is_here() {
        // SAFETY: patterns are collected.
        unsafe { shadow() }.shared.add_code(start as u64, end as u64);
    }
}
