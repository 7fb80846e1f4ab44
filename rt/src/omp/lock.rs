//! Locks: critical regions, and the locks of OpenMP's functions. The program's own word is the lock: both
//! libraries reserve at least four bytes for each, which are zero when it is free.

use core::sync::atomic::{AtomicU32, Ordering};

use norn_abi::{Kind, LockClass, arena::ThreadSlot, lock::TRY};

use crate::{
    control::{self, NEVER},
    event, sys,
};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and a thread may be waiting in the kernel.
const AWAITED: u32 = 2;
const MUTEX: u64 = LockClass::Mutex as u64;

/// A lock inside the runtime, which is held briefly and never at an event.
pub struct Spin(AtomicU32);

impl Spin {
    pub const fn new() -> Spin {
        Spin(AtomicU32::new(0))
    }

    pub fn lock(&self) {
        while self.0.swap(1, Ordering::Acquire) != 0 {
            sys::yield_now();
        }
    }

    pub fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }
}

/// # Safety
/// `lock` is the address of a lock.
unsafe fn word(lock: usize) -> &'static AtomicU32 {
    // SAFETY: guaranteed by the caller.
    unsafe { &*(lock as *const AtomicU32) }
}

/// Makes a lock free.
///
/// # Safety
/// `lock` is the address of a lock that no thread uses.
pub unsafe fn init(lock: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { word(lock).store(FREE, Ordering::Release) };
}

/// Acquires a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` is the address of a lock.
pub unsafe fn acquire(slot: *mut ThreadSlot, lock: usize, pc: usize) {
    const FOR_EVER: u64 = 1 << 40;
    // SAFETY: guaranteed by the caller.
    unsafe {
        control::before(slot, Kind::Acquire, pc, lock);
        let word = word(lock);
        let mut held = HELD;
        while word.compare_exchange(FREE, held, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            if control::was_on() {
                // A release that comes before the wait is registered must not be lost.
                let check = || {
                    if word.load(Ordering::Acquire) == FREE {
                        control::release(Kind::Acquire, lock);
                    }
                };
                control::block_after(slot, (Kind::Acquire, lock, pc), NEVER, check);
            } else if word.swap(AWAITED, Ordering::AcqRel) == FREE {
                break;
            } else {
                held = AWAITED;
                event::block(slot, Kind::Acquire, lock, pc);
                sys::futex_wait(word.as_ptr(), AWAITED, FOR_EVER);
                event::unblock(slot);
            }
        }
        event::note(slot, Kind::Acquire, pc, lock, &[MUTEX]);
    }
}

/// Acquires a lock if it is free. Returns whether it was.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` is the address of a lock.
pub unsafe fn try_acquire(slot: *mut ThreadSlot, lock: usize, pc: usize) -> bool {
    const BUSY: u64 = 16;
    // SAFETY: guaranteed by the caller.
    unsafe {
        control::before(slot, Kind::Acquire, pc, lock);
        let word = word(lock);
        let got = word.compare_exchange(FREE, HELD, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if got {
            event::note(slot, Kind::Acquire, pc, lock, &[MUTEX | TRY]);
        } else {
            event::note(slot, Kind::AcquireFailed, pc, lock, &[MUTEX | TRY, BUSY]);
        }
        got
    }
}

/// Releases a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the thread has acquired the lock.
pub unsafe fn release(slot: *mut ThreadSlot, lock: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        event::put(slot, Kind::Release, pc, lock, &[MUTEX]);
        let word = word(lock);
        if word.swap(FREE, Ordering::AcqRel) == AWAITED {
            sys::futex_wake(word.as_ptr());
        }
        control::release(Kind::Acquire, lock);
    }
}

/// A lock that its owner can acquire again. There are eight bytes for it: the lock, and the owner's
/// number and how often the owner has acquired it, which only the owner changes.
struct Nest(usize);

impl Nest {
    const OWNER: u32 = 16;

    /// # Safety
    /// It is the address of such a lock.
    unsafe fn state(&self) -> &'static AtomicU32 {
        // SAFETY: guaranteed by the caller.
        unsafe { word(self.0 + 4) }
    }

    /// How often the current thread has acquired it.
    ///
    /// # Safety
    /// The slot is the current thread's, and it is the address of such a lock.
    unsafe fn depth(&self, slot: *mut ThreadSlot) -> u32 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let state = self.state().load(Ordering::Relaxed);
            let mine = state >> Nest::OWNER == ((*slot).head.thread + 1) & 0xffff;
            if mine { state & 0xffff } else { 0 }
        }
    }

    /// # Safety
    /// The slot is the current thread's, which holds the lock.
    unsafe fn set_depth(&self, slot: *mut ThreadSlot, depth: u32) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let owner = ((*slot).head.thread + 1) << Nest::OWNER;
            self.state().store(if depth == 0 { 0 } else { owner | depth }, Ordering::Relaxed);
        }
    }
}

/// Makes a nestable lock free.
///
/// # Safety
/// `lock` is the address of a nestable lock that no thread uses.
pub unsafe fn init_nest(lock: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        init(lock);
        Nest(lock).state().store(0, Ordering::Release);
    }
}

/// Acquires a nestable lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` is the address of a nestable lock.
pub unsafe fn acquire_again(slot: *mut ThreadSlot, lock: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let depth = Nest(lock).depth(slot);
        if depth == 0 {
            acquire(slot, lock, pc);
        }
        Nest(lock).set_depth(slot, depth + 1);
    }
}

/// Acquires a nestable lock if no other thread holds it. Returns how often the thread holds it now.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` is the address of a nestable lock.
pub unsafe fn try_acquire_again(slot: *mut ThreadSlot, lock: usize, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let depth = Nest(lock).depth(slot);
        if depth == 0 && !try_acquire(slot, lock, pc) {
            return 0;
        }
        Nest(lock).set_depth(slot, depth + 1);
        depth + 1
    }
}

/// Releases a nestable lock once.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the thread holds the lock.
pub unsafe fn release_again(slot: *mut ThreadSlot, lock: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let depth = Nest(lock).depth(slot).saturating_sub(1);
        Nest(lock).set_depth(slot, depth);
        if depth == 0 {
            release(slot, lock, pc);
        }
    }
}
