//! The order of atomic operations: operation and sequence number are taken together under one of a
//! few hundred spin locks, chosen by address, which is at the same time the clock of its objects. A
//! load takes no lock: it sees that nobody came between, and leaves a mark only if it is the first
//! one after a change.

use core::sync::atomic::{AtomicU64, Ordering};

use norn_abi::arena::ThreadSlot;

use super::word::Word;
use crate::{intercept::signal, number, sys, thread};

/// For the objects that share it: what comes after their last change, and [who has read them
/// since](Reader); [`BUSY`] during a change.
#[repr(align(64))]
struct Lock(AtomicU64);

const BUSY: u64 = u64::MAX;
const COUNT: usize = 512;
static LOCKS: [Lock; COUNT] = [const { Lock(AtomicU64::new(0)) }; COUNT];

/// The lowest bits of a lock: nobody, a thread, or several.
struct Reader;

impl Reader {
    const BITS: u32 = 16;
    const NOBODY: u64 = 0;
    const SEVERAL: u64 = (1 << Reader::BITS) - 1;

    /// # Safety
    /// The slot is the current thread's and no stand.
    unsafe fn of(slot: *mut ThreadSlot) -> u64 {
        // SAFETY: the slot is the current thread's.
        let thread = unsafe { (*slot).head.thread };
        (u64::from(thread) + 1).min(Reader::SEVERAL)
    }
}

/// In a forked child: whoever held a lock is not here, and it has no events yet.
pub fn unlock_all() {
    LOCKS.iter().for_each(|it| it.0.store(0, Ordering::Relaxed));
}

/// An operation of a recorded thread, during which nobody else does one at the same address.
pub struct Turn {
    pub slot: *mut ThreadSlot,
    pub number: u64,
    lock: Option<&'static AtomicU64>,
}

impl Turn {
    /// Waits for the operations of others. Signals wait until this one is over.
    ///
    /// # Safety
    /// The slot is the current thread's and no stand.
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

    /// Others can go on.
    pub fn pass(&self) {
        if let Some(lock) = self.lock {
            lock.store((self.number + 1) << Reader::BITS, Ordering::Release);
        }
    }

    /// The operation is recorded, and signals that waited can come.
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

/// Whether the thread is in a signal handler that came during an operation, as one that could not
/// be put off. It must not wait for what it interrupted.
///
/// # Safety
/// The slot is the current thread's and no stand.
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

/// Waits until nobody is in an operation. Looking does not take the lock's memory from its owner.
#[cold]
fn wait(lock: &AtomicU64) {
    let mut looks = 0;
    while lock.load(Ordering::Relaxed) == BUSY {
        looks += 1;
        if looks % 64 == 0 { sys::yield_now() } else { core::hint::spin_loop() }
    }
}

/// The number of a change: after the one before, and after whatever was read since. Our own reads
/// are before us anyway, and those of others before what nobody has come to yet.
///
/// # Safety
/// The slot is the current thread's and no stand.
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

/// Reads an object, with the number of that. If the thread, or more than one, has read it since its
/// last change, nothing is written that others would have to wait for.
///
/// # Safety
/// The slot is the current thread's and no stand, and `at` can be read atomically.
#[inline(always)]
pub unsafe fn observe<W: Word>(slot: *mut ThreadSlot, at: *mut W) -> (W, u64) {
    // SAFETY: the slot is the current thread's, the rest as the caller called it.
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
            // Numbers only grow: if the state is the same, nobody has changed anything.
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
