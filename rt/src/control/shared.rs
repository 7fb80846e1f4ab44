//! The scheduler of this process, and the single lock that guards it.

use core::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicBool, Ordering},
};

use norn_abi::arena::ThreadSlot;
use norn_sched::Scheduler;

use crate::{intercept::signal, sys, thread, tls};

struct Shared(UnsafeCell<Scheduler>);

// SAFETY: only a guard gives access, and at most one guard exists at a time.
unsafe impl Sync for Shared {}

static SCHEDULER: Shared = Shared(UnsafeCell::new(Scheduler::new()));
static LOCK: AtomicBool = AtomicBool::new(false);

/// Holds the scheduler's lock. Signals are deferred meanwhile, because a handler would need the
/// lock, too.
pub struct Guard {
    /// The current thread's slot, or a placeholder.
    slot: *mut ThreadSlot,
}

/// Acquires the scheduler's lock. It is held for a few hundred instructions, except while `/proc`
/// is read, so a thread that has to wait spins.
pub fn lock() -> Guard {
    let slot = tls::current();
    defer_signals(slot, true);
    let mut tries = 0u32;
    while LOCK.swap(true, Ordering::Acquire) {
        tries += 1;
        if tries.is_multiple_of(64) { sys::yield_now() } else { core::hint::spin_loop() }
    }
    Guard { slot }
}

/// In a forked child: releases the lock. A thread that held it does not exist in the child.
///
/// # Safety
/// The process has one thread, and it holds no guard.
pub unsafe fn unlock_after_fork() {
    LOCK.store(false, Ordering::Relaxed);
}

fn defer_signals(slot: *mut ThreadSlot, defer: bool) {
    if !tls::is_stand(slot) {
        // SAFETY: the slot is the current thread's.
        unsafe { (*thread::own(slot)).in_atomic = defer };
    }
}

impl Deref for Guard {
    type Target = Scheduler;

    fn deref(&self) -> &Scheduler {
        // SAFETY: the lock is held as long as the guard lives.
        unsafe { &*SCHEDULER.0.get() }
    }
}

impl DerefMut for Guard {
    fn deref_mut(&mut self) -> &mut Scheduler {
        // SAFETY: the lock is held as long as the guard lives, and the guard is borrowed uniquely.
        unsafe { &mut *SCHEDULER.0.get() }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        LOCK.store(false, Ordering::Release);
        defer_signals(self.slot, false);
        if !tls::is_stand(self.slot) {
            // SAFETY: the slot is the current thread's.
            unsafe { signal::deliver(self.slot) };
        }
    }
}
