//! Guards of C++ function-local statics, as the Itanium ABI defines them: the first byte means
//! "initialised". The runtime keeps the state of an initialisation in progress in the second half
//! of the guard, and waits on that word.
//!
//! These functions replace the C++ library's functions entirely, so the behaviour does not depend
//! on whether that library is linked statically, dynamically or not at all.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU8, AtomicU32, Ordering},
};

use norn_abi::Kind;

use super::interpose;
use crate::{
    control::{self, NEVER},
    event, sys, thread,
};

const FREE: u32 = 0;
const RUNNING: u32 = 1;
const AWAITED: u32 = 2;

/// # Safety
/// `guard` points to a guard of a static variable: 8 bytes of static memory.
unsafe fn done(guard: usize) -> &'static AtomicU8 {
    // SAFETY: a guard is 8 bytes of static memory.
    unsafe { &*(guard as *const AtomicU8) }
}

/// # Safety
/// `guard` points to a guard of a static variable: 8 bytes of static memory.
unsafe fn progress(guard: usize) -> &'static AtomicU32 {
    // SAFETY: a guard is 8 bytes of static memory.
    unsafe { &*((guard + 4) as *const AtomicU32) }
}

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn record(kind: Kind, guard: usize, pc: usize, args: &[u64]) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::note(slot, kind, pc, guard, args) };
    }
}

/// Asks the scheduler before the operation: another thread may run first.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn announce(guard: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { control::before(slot, Kind::OnceDone, pc, guard) };
    }
}

/// # Safety
/// As for the function of the C++ ABI in whose place it is called.
unsafe extern "C-unwind" fn acquire(guard: usize, pc: usize) -> c_int {
    const FOR_EVER: u64 = 1 << 40;
    // SAFETY: guaranteed by the caller.
    unsafe {
        announce(guard, pc);
        let progress = progress(guard);
        loop {
            if done(guard).load(Ordering::Acquire) != 0 {
                record(Kind::OnceDone, guard, pc, &[]);
                return 0;
            }
            match progress.compare_exchange(FREE, RUNNING, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) if done(guard).load(Ordering::Acquire) != 0 => finish(guard),
                Ok(_) => {
                    record(Kind::OnceBegin, guard, pc, &[]);
                    return 1;
                }
                Err(_) => {
                    let _ = progress.compare_exchange(
                        RUNNING,
                        AWAITED,
                        Ordering::AcqRel,
                        Ordering::Relaxed,
                    );
                    match thread::recorded().filter(|_| control::is_on()) {
                        Some(slot) => control::block(slot, Kind::OnceDone, guard, pc, NEVER),
                        None => sys::futex_wait(progress.as_ptr(), AWAITED, FOR_EVER),
                    };
                }
            }
        }
    }
}

/// # Safety
/// `guard` points to a guard that the current thread has acquired.
unsafe fn finish(guard: usize) {
    // SAFETY: guaranteed by the caller.
    let progress = unsafe { progress(guard) };
    if progress.swap(FREE, Ordering::AcqRel) == AWAITED {
        sys::futex_wake(progress.as_ptr());
    }
    control::release(Kind::OnceDone, guard);
}

/// # Safety
/// As for the function of the C++ ABI in whose place it is called.
unsafe extern "C-unwind" fn release(guard: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        announce(guard, pc);
        record(Kind::OnceEnd, guard, pc, &[1]);
        done(guard).store(1, Ordering::Release);
        finish(guard);
    }
}

/// # Safety
/// As for the function of the C++ ABI in whose place it is called.
unsafe extern "C-unwind" fn abort(guard: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        announce(guard, pc);
        record(Kind::OnceEnd, guard, pc, &[0]);
        finish(guard);
    }
}

interpose! {
    __cxa_guard_acquire(1) => acquire;
    __cxa_guard_release(1) => release;
    __cxa_guard_abort(1) => abort;
}
