//! Weaker memory, if the plan asks for it: atomic loads may return older stores ([`norn_sched::Memory`]).
//! The seed of the plan, the thread and the index of the event decide which, so that a run that follows
//! the same schedule reads the same values.

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};

use norn_abi::{
    Kind,
    arena::ThreadSlot,
    control::{class, memory},
};
use norn_sched::{Memory, Object, Order, STEP, mix};

use super::shared::{Guard, lock};
use crate::{arena, thread};

struct Shared(UnsafeCell<Memory>);

// SAFETY: it is accessed only while the scheduler's lock is held.
unsafe impl Sync for Shared {}

static MEMORY: Shared = Shared(UnsafeCell::new(Memory::new()));
static ON: AtomicBool = AtomicBool::new(false);

/// Whether loads may return older stores.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Begins, if the plan asks for it.
pub fn start() {
    ON.store(arena::plan().memory == memory::C11, Ordering::Relaxed);
}

fn with<T>(use_it: impl FnOnce(&mut Memory) -> T) -> T {
    let guard: Guard = lock();
    // SAFETY: the scheduler's lock is held until the guard is dropped, and `use_it` takes no lock.
    let result = use_it(unsafe { &mut *MEMORY.0.get() });
    drop(guard);
    result
}

/// What C's number of a memory order requires.
fn order(number: i32) -> Order {
    // Compilers may add hints above the lowest bits.
    let number = number & 7;
    Order {
        acquires: matches!(number, 1 | 2 | 4 | 5),
        releases: matches!(number, 3..=5),
        sequential: number == 5,
    }
}

/// The value that a load returns, if it is not what the memory contains.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn load(slot: *mut ThreadSlot, object: Object, number: i32) -> Option<u128> {
    // SAFETY: guaranteed by the caller.
    let (thread, index) = unsafe { ((*slot).head.thread, (*slot).steps) };
    let seed = arena::plan().seed ^ mix(u64::from(thread) + 1);
    let drawn = mix(seed.wrapping_add(index.wrapping_mul(STEP)));
    // Every second load returns the newest store, the others any older one.
    let choose = |allowed: usize| match drawn % 2 {
        0 => 0,
        _ => 1 + (drawn >> 1) as usize % (allowed - 1),
    };
    let older = with(|memory| memory.load(thread, object, order(number), choose));
    if older.is_some() {
        arena::outcome().older.fetch_add(1, Ordering::Relaxed);
    }
    older
}

/// A store of a value.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn store(slot: *mut ThreadSlot, object: Object, number: i32, value: u128) {
    // SAFETY: guaranteed by the caller.
    let thread = unsafe { (*slot).head.thread };
    with(|memory| memory.store(thread, object, order(number), value));
}

/// A read-modify-write that writes a value.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn update(slot: *mut ThreadSlot, object: Object, number: i32, value: u128) {
    // SAFETY: guaranteed by the caller.
    let thread = unsafe { (*slot).head.thread };
    with(|memory| memory.update(thread, object, order(number), value));
}

/// A compare-exchange that fails: it reads the newest store.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn compare(slot: *mut ThreadSlot, object: Object, number: i32) {
    // SAFETY: guaranteed by the caller.
    let thread = unsafe { (*slot).head.thread };
    with(|memory| memory.load(thread, object, order(number), |_| 0));
}

/// A fence.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn fence(slot: *mut ThreadSlot, number: i32) {
    // SAFETY: guaranteed by the caller.
    let thread = unsafe { (*slot).head.thread };
    with(|memory| memory.fence(thread, order(number)));
}

/// Whether events of a kind may order a thread after others. Of a lock that was not acquired nothing is
/// learned, but what a thread sees in addition is never wrong.
#[inline(always)]
pub const fn synchronises(kind: Kind) -> bool {
    use Kind as K;
    let acquires = matches!(
        kind.class(),
        class::LOCK | class::WAKE | class::JOIN | class::BARRIER | class::SEM_WAIT | class::ONCE
    );
    let other = matches!(
        kind,
        K::Begin | K::HandlerBegin | K::HandlerEnd | K::Receive | K::Ready | K::HappensAfter
    );
    acquires || other
}

/// Synchronisation other than by atomic operations. The end of a signal handler shows its stores to the
/// thread that it interrupted.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn synchronise(slot: *mut ThreadSlot, kind: Kind) {
    // SAFETY: guaranteed by the caller; the host of a handler is the slot of the same thread.
    let thread = unsafe {
        let host = (*thread::own(slot)).host;
        let ends = matches!(kind, Kind::HandlerEnd) && !host.is_null();
        (*if ends { host } else { slot }).head.thread
    };
    with(|memory| memory.synchronise(thread));
}
