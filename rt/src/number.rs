//! Sequence numbers, which define the order of events.
//!
//! If all events are totally ordered, or if only one thread runs at a time, the numbers come from a
//! single counter. Otherwise threads would contend for that counter. So each thread has a Lamport
//! clock of its own, and so has each object: an event is later than the previous event of its
//! thread and than the previous event on its object. Threads that use different objects do not
//! contend. The counter is a lower bound for all threads: a thread that is far ahead of it advances
//! it, and the next event of every thread is not before it, so numbers stay close to real time.
//! Events other than those on locks and semaphores are rare, and always advance the counter.

use core::sync::atomic::{AtomicU64, Ordering};

use norn_abi::{Kind, arena::ThreadSlot};

use crate::{arena, control, thread::own};

/// How far a thread's clock may be ahead of the counter before the thread advances the counter.
const AHEAD: u64 = 256;

#[repr(align(64))]
struct Clock(AtomicU64);

const CLOCKS: usize = 512;
/// The number after the last event on the objects that share a clock.
static OBJECTS: [Clock; CLOCKS] = [const { Clock(AtomicU64::new(0)) }; CLOCKS];

/// The index of the clock or lock, of `count`, to which an address is mapped.
#[inline(always)]
pub fn share(addr: usize, count: usize) -> usize {
    (addr >> 3 ^ addr >> 12) % count
}

/// The number of an event that happens now. Advances the counter.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn next(slot: *mut ThreadSlot) -> u64 {
    let counter = arena::counter();
    if !is_local() {
        return counter.fetch_add(1, Ordering::SeqCst);
    }
    // SAFETY: the slot is the current thread's.
    let own = unsafe { own(slot) };
    let mut seen = counter.load(Ordering::Relaxed);
    // SAFETY: as above.
    unsafe {
        // The counter only grows, so this number is not before the clock either, and unlike an
        // exchange it cannot fail.
        if (*own).clock <= seen {
            let number = counter.fetch_add(1, Ordering::SeqCst);
            (*own).clock = number + 1;
            return number;
        }
    }
    loop {
        // SAFETY: as above.
        let number = unsafe { (*own).clock.max(seen) };
        match counter.compare_exchange(seen, number + 1, Ordering::SeqCst, Ordering::Relaxed) {
            // SAFETY: as above.
            Ok(_) => unsafe {
                (*own).clock = number + 1;
                return number;
            },
            Err(now) => seen = now,
        }
    }
}

/// The number of an event on the object at `addr`.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn at(slot: *mut ThreadSlot, kind: Kind, addr: usize) -> u64 {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if !is_frequent(kind) || !is_local() {
            return rare(slot, addr);
        }
        let object = &OBJECTS[share(addr, CLOCKS)].0;
        let seen = object.load(Ordering::Relaxed);
        let number = since(slot, seen);
        let next = number + 1;
        if object.compare_exchange(seen, next, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            object.fetch_max(next, Ordering::SeqCst);
        }
        number
    }
}

/// The number of an event on the object at `addr` that also advances the counter.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(never)]
unsafe fn rare(slot: *mut ThreadSlot, addr: usize) -> u64 {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let object = &OBJECTS[share(addr, CLOCKS)].0;
        (*own(slot)).clock = (*own(slot)).clock.max(object.load(Ordering::Relaxed));
        // The object's clock need not advance: a later event on it is not before the counter.
        next(slot)
    }
}

/// The number of an event that is not before `earliest`.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn since(slot: *mut ThreadSlot, earliest: u64) -> u64 {
    // SAFETY: the slot is the current thread's.
    unsafe { if is_local() { since_local(slot, earliest) } else { next(slot) } }
}

/// As [`since`], for a thread that has a clock of its own.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn since_local(slot: *mut ThreadSlot, earliest: u64) -> u64 {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let counter = arena::counter();
        let known = counter.load(Ordering::Relaxed);
        let number = (*own(slot)).clock.max(earliest).max(known);
        (*own(slot)).clock = number + 1;
        if number >= known + AHEAD {
            counter.fetch_max(number + 1, Ordering::SeqCst);
        }
        number
    }
}

/// A number that is later than any number given so far.
#[inline(always)]
pub fn horizon() -> u64 {
    arena::counter().load(Ordering::Relaxed) + AHEAD
}

/// The number of a memory access, in the mode in which accesses are numbered.
pub fn of_access() -> Option<u64> {
    arena::is_global().then(|| arena::counter().fetch_add(1, Ordering::SeqCst))
}

/// Whether threads have clocks of their own.
#[inline(always)]
fn is_local() -> bool {
    !arena::is_global() && !control::was_on()
}

fn is_frequent(kind: Kind) -> bool {
    use Kind as K;
    matches!(
        kind,
        K::Acquire
            | K::Release
            | K::AcquireFailed
            | K::SemPost
            | K::SemWait
            | K::TimedSemWait
            | K::SemFailed
    )
}
