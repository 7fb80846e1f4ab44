//! The order of atomic operations. An operation and its sequence number are taken together under
//! one of a few hundred spin locks, chosen by address. The lock word is also the logical clock of
//! the objects that share it. A load takes no lock: it verifies that no change came between its
//! read and its number, and writes to the lock word only if it is the first load after a change.

use core::sync::atomic::{AtomicU64, Ordering};

use norn_abi::arena::ThreadSlot;

use super::word::Word;
use crate::{intercept::signal, number, sys, thread};

/// The state of the objects that share a lock: the sequence number after their last change, and
/// [which threads have read them since](Reader); [`BUSY`] during a change.
#[repr(align(64))]
struct Lock(AtomicU64);

const BUSY: u64 = u64::MAX;
const COUNT: usize = 512;
static LOCKS: [Lock; COUNT] = [const { Lock(AtomicU64::new(0)) }; COUNT];

/// The lowest bits of a lock word, which identify the readers since the last change: none, one
/// thread, or several.
struct Reader;

impl Reader {
    const BITS: u32 = 16;
    const NOBODY: u64 = 0;
    const SEVERAL: u64 = (1 << Reader::BITS) - 1;

    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    unsafe fn of(slot: *mut ThreadSlot) -> u64 {
        // SAFETY: the slot is the current thread's.
        let thread = unsafe { (*slot).head.thread };
        (u64::from(thread) + 1).min(Reader::SEVERAL)
    }
}

/// In a forked child: releases all locks. The threads that held them do not exist in the child, and
/// the child has no events yet, so its clocks may start at zero.
pub fn unlock_all() {
    LOCKS.iter().for_each(|it| it.0.store(0, Ordering::Relaxed));
}

/// An operation of a recorded thread. No other thread operates on the same address until it ends.
pub struct Turn {
    pub slot: *mut ThreadSlot,
    pub number: u64,
    lock: Option<&'static AtomicU64>,
}

impl Turn {
    /// Waits until no other thread operates on the address. Signals are deferred until this
    /// operation ends.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    #[inline(always)]
    pub unsafe fn begin(slot: *mut ThreadSlot, addr: usize) -> Turn {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if interrupts_an_operation(slot) {
                return Turn { slot, number: number::next(slot), lock: None };
            }
            let lock = &LOCKS[number::share(addr, COUNT)].0;
            (*thread::own(slot)).in_atomic = true;
            loop {
                let state = lock.swap(BUSY, Ordering::Acquire);
                if state != BUSY {
                    return Turn { slot, number: after(slot, state), lock: Some(lock) };
                }
                wait(lock);
            }
        }
    }

    /// Releases the lock: other threads can operate on the address.
    pub fn pass(&self) {
        if let Some(lock) = self.lock {
            lock.store((self.number + 1) << Reader::BITS, Ordering::Release);
        }
    }

    /// Ends the operation, which is recorded now, and delivers the signals that were deferred.
    ///
    /// # Safety
    /// Called once, by the thread that began the operation.
    pub unsafe fn end(self) {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if self.lock.is_some() {
                (*thread::own(self.slot)).in_atomic = false;
                signal::deliver(self.slot);
            }
        }
    }
}

/// Whether the thread is in a signal handler that interrupted an operation because the signal could
/// not be deferred. Such a handler must not wait for the lock: the interrupted operation holds it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
unsafe fn interrupts_an_operation(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slots are the current thread's.
    unsafe {
        let mut host = (*thread::own(slot)).host;
        while !host.is_null() {
            if (*thread::own(host)).in_atomic {
                return true;
            }
            host = (*thread::own(host)).host;
        }
    }
    false
}

/// Spins until no thread holds the lock. It only loads, so the cache line stays with its owner.
#[cold]
fn wait(lock: &AtomicU64) {
    let mut looks = 0;
    while lock.load(Ordering::Relaxed) == BUSY {
        looks += 1;
        if looks % 64 == 0 { sys::yield_now() } else { core::hint::spin_loop() }
    }
}

/// The number of a change. It must be greater than the number of the previous change and than those
/// of the reads since then. The thread's own reads already precede it in program order; if other
/// threads have read, the number is at least the horizon, which is later than any number given so
/// far.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
unsafe fn after(slot: *mut ThreadSlot, state: u64) -> u64 {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let reader = state & Reader::SEVERAL;
        let mut earliest = state >> Reader::BITS;
        if reader != Reader::NOBODY && (reader != Reader::of(slot) || reader == Reader::SEVERAL) {
            earliest = earliest.max(number::horizon());
        }
        number::since(slot, earliest)
    }
}

/// Loads an object and returns its value with a sequence number. If this thread, or more than one
/// thread, has read the object since its last change, the load writes nothing that would invalidate
/// the lock's cache line in other processors.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `at` can be read atomically.
#[inline(always)]
pub unsafe fn observe<W: Word>(slot: *mut ThreadSlot, at: *mut W) -> (W, u64) {
    // SAFETY: the slot is the current thread's; `at` is guaranteed by the caller.
    unsafe {
        if interrupts_an_operation(slot) {
            return (W::load(at), number::next(slot));
        }
        let lock = &LOCKS[number::share(at as usize, COUNT)].0;
        let own = Reader::of(slot);
        loop {
            let state = lock.load(Ordering::Acquire);
            if state == BUSY {
                wait(lock);
                continue;
            }
            let number = number::since(slot, state >> Reader::BITS);
            let value = W::load(at);
            let known = match state & Reader::SEVERAL {
                reader if reader == own || reader == Reader::SEVERAL => state,
                Reader::NOBODY => state | own,
                _ => state | Reader::SEVERAL,
            };
            // Sequence numbers only grow, so an unchanged lock word means that no thread has
            // changed the object.
            let same = match known == state {
                true => lock.load(Ordering::Acquire) == state,
                false => {
                    lock.compare_exchange(state, known, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                }
            };
            if same {
                return (value, number);
            }
        }
    }
}
