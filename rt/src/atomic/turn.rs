//! The order of atomic operations. An operation and its sequence number are taken together under
//! one of a few thousand spin locks, chosen by address. The lock word is also the logical clock of
//! the objects that share it. A load takes no lock: it verifies that no change came between its
//! read and its number, and writes to the lock word only if it is the first load after a change.

use core::sync::atomic::{AtomicU64, Ordering};

use norn_abi::arena::ThreadSlot;

use super::word::Word;
use crate::{intercept::signal, number, sys, thread};

/// The state of the objects that share a lock: the sequence number after their last change, and
/// [which threads have read them since](Reader); [`BUSY`] during a change.
struct Lock(AtomicU64);

/// Objects that share a cache line have locks that share one: processors that contend for such a line of
/// locks contend for the objects' line anyway.
#[repr(align(64))]
struct Locks([Lock; COUNT]);

const BUSY: u64 = u64::MAX;
const COUNT: usize = 4096;
static LOCKS: Locks = Locks([const { Lock(AtomicU64::new(0)) }; COUNT]);

/// The lock of an object.
#[inline(always)]
fn lock_of(addr: usize) -> &'static AtomicU64 {
    &LOCKS.0[number::share(addr, COUNT)].0
}

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
    LOCKS.0.iter().for_each(|it| it.0.store(0, Ordering::Relaxed));
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
            Turn::take(slot, addr, |earliest| number::since(slot, earliest))
        }
    }

    /// The same for a thread that has a clock of its own and is not in a signal handler.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    #[inline(always)]
    pub unsafe fn begin_local(slot: *mut ThreadSlot, addr: usize) -> Turn {
        // SAFETY: the slot is the current thread's.
        unsafe { Turn::take(slot, addr, |earliest| number::since_local(slot, earliest)) }
    }

    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    #[inline(always)]
    unsafe fn take(slot: *mut ThreadSlot, addr: usize, since: impl FnOnce(u64) -> u64) -> Turn {
        // SAFETY: the slot is the current thread's.
        unsafe {
            let lock = lock_of(addr);
            prefetch(addr);
            (*thread::own(slot)).in_atomic = true;
            let mut state = lock.swap(BUSY, Ordering::Acquire);
            while state == BUSY {
                wait(lock);
                state = lock.swap(BUSY, Ordering::Acquire);
            }
            Turn { slot, number: since(earliest(slot, state)), lock: Some(lock) }
        }
    }

    /// Ends the operation, which is recorded now: other threads can operate on the address. Delivers the
    /// signals that were deferred.
    ///
    /// # Safety
    /// Called once, by the thread that began the operation.
    #[inline(always)]
    pub unsafe fn end(self) {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if let Some(lock) = self.lock {
                lock.store((self.number + 1) << Reader::BITS, Ordering::Release);
                (*thread::own(self.slot)).in_atomic = false;
                signal::deliver(self.slot);
            }
        }
    }
}

/// Requests the cache line of an object that is about to be changed, so that the processor waits for it
/// and for that of the lock at the same time.
#[inline(always)]
fn prefetch(addr: usize) {
    // SAFETY: a hint, which has no other effect even if there is no memory.
    unsafe {
        core::arch::asm!(
            "prefetchw byte ptr [{addr}]",
            addr = in(reg) addr,
            options(nostack, preserves_flags, readonly),
        );
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

/// The least number of a change. It must be greater than the number of the previous change and than those
/// of the reads since then. The thread's own reads already precede it in program order; if other
/// threads have read, the number is at least the horizon, which is later than any number given so
/// far.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
unsafe fn earliest(slot: *mut ThreadSlot, state: u64) -> u64 {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let reader = state & Reader::SEVERAL;
        let mut earliest = state >> Reader::BITS;
        if reader != Reader::NOBODY && (reader != Reader::of(slot) || reader == Reader::SEVERAL) {
            earliest = earliest.max(number::horizon());
        }
        earliest
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
        look(slot, at, |earliest| number::since(slot, earliest))
    }
}

/// The same for a thread that has a clock of its own and is not in a signal handler.
///
/// # Safety
/// As for [`observe`].
#[inline(always)]
pub unsafe fn observe_local<W: Word>(slot: *mut ThreadSlot, at: *mut W) -> (W, u64) {
    // SAFETY: guaranteed by the caller.
    unsafe { look(slot, at, |earliest| number::since_local(slot, earliest)) }
}

/// # Safety
/// As for [`observe`].
#[inline(always)]
unsafe fn look<W: Word>(slot: *mut ThreadSlot, at: *mut W, since: impl Fn(u64) -> u64) -> (W, u64) {
    // SAFETY: the slot is the current thread's; `at` is guaranteed by the caller.
    unsafe {
        let lock = lock_of(at as usize);
        let own = Reader::of(slot);
        loop {
            let state = lock.load(Ordering::Acquire);
            if state == BUSY {
                wait(lock);
                continue;
            }
            let number = since(state >> Reader::BITS);
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
