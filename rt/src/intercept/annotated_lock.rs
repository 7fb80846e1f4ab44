//! Locks that a program implements itself and describes by ThreadSanitizer's annotations.
//!
//! The calls before and after an operation of the lock enclose the program's own code; see [`own_lock`].

use core::ffi::c_int;

use norn_abi::{Kind, LockClass, ObjectClass};

use super::interpose;
use crate::{
    control, event,
    own_lock::{self, BUSY, MOST, Manner, depth, enter, given_up, leave, taken},
    thread,
};

// Flags of `__tsan_mutex_*`, from `sanitizer/tsan_interface.h`.
const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK: u32 = 1 << 4;
const TRY_LOCK_FAILED: u32 = 1 << 5;
const RECURSIVE_LOCK: u32 = 1 << 6;
const RECURSIVE_UNLOCK: u32 = 1 << 7;

fn manner(flags: u32) -> Manner {
    Manner {
        shared: flags & READ_LOCK != 0,
        read_write: false,
        recursive: true,
        writers_first: false,
    }
}

fn class(flags: u32) -> u64 {
    own_lock::class(manner(flags), flags & TRY_LOCK != 0)
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn pre_lock(lock: usize, flags: u32, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: the slot is the current thread's.
    unsafe {
        if flags & TRY_LOCK == 0 {
            control::before(slot, Kind::Acquire, pc, lock);
            own_lock::wait_for(lock, slot, manner(flags), pc);
        }
        enter(slot);
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn post_lock(lock: usize, flags: u32, recursion: c_int, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    let times = match flags & RECURSIVE_LOCK {
        0 => 1,
        _ => u32::try_from(recursion).unwrap_or(1).clamp(1, MOST as u32),
    };
    // SAFETY: the slot is the current thread's. The scheduler was asked before the lock was taken.
    unsafe {
        if flags & TRY_LOCK_FAILED == 0 {
            let pc = taken(lock, slot, flags & READ_LOCK != 0, times).unwrap_or(pc);
            for _ in 0..times {
                event::note(slot, Kind::Acquire, pc, lock, &[class(flags)]);
            }
        } else {
            event::note(slot, Kind::AcquireFailed, pc, lock, &[class(flags), BUSY]);
        }
        leave(slot);
    }
}

/// Returns how often the lock was held, for a lock that is released completely.
///
/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn pre_unlock(lock: usize, flags: u32, pc: usize) -> c_int {
    let Some(slot) = thread::recorded() else { return 1 };
    let times = if flags & RECURSIVE_UNLOCK != 0 { depth(lock, slot) } else { 1 };
    // SAFETY: the slot is the current thread's.
    unsafe {
        for _ in 0..times {
            event::put(slot, Kind::Release, pc, lock, &[class(flags & !TRY_LOCK)]);
        }
        enter(slot);
    }
    times.try_into().unwrap_or(1)
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn post_unlock(lock: usize, flags: u32) {
    let Some(slot) = thread::recorded() else { return };
    let times = if flags & RECURSIVE_UNLOCK != 0 { depth(lock, slot) } else { 1 };
    given_up(lock, flags & READ_LOCK != 0, times);
    // SAFETY: the slot is the current thread's.
    unsafe { leave(slot) };
}

/// The code of a lock begins: a signal of a condition variable, or what follows a diversion.
///
/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn code_begins() {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { enter(slot) };
    }
}

/// The code of a lock ends, or calls code of the program, such as a condition.
///
/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn code_ends() {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { leave(slot) };
    }
}

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn record(kind: Kind, lock: usize, pc: usize, args: &[u64]) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, kind, pc, lock, args) };
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn created(lock: usize, _flags: u32, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Init, lock, pc, &[ObjectClass::Mutex as u64, 0]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn destroyed(lock: usize, _flags: u32, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Destroy, lock, pc, &[ObjectClass::Mutex as u64]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn rw_created(_: usize, _: usize, lock: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Init, lock, pc, &[ObjectClass::RwLock as u64, 0]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn rw_destroyed(_: usize, _: usize, lock: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Destroy, lock, pc, &[ObjectClass::RwLock as u64]) };
}

fn rw_class(exclusive: usize) -> u64 {
    if exclusive == 0 { LockClass::Read as u64 } else { LockClass::Write as u64 }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn rw_acquired(_: usize, _: usize, lock: usize, exclusive: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's. The lock has been taken: another thread that ran now
        // could only wait for it.
        unsafe { event::note(slot, Kind::Acquire, pc, lock, &[rw_class(exclusive)]) };
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn rw_released(_: usize, _: usize, lock: usize, exclusive: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Release, lock, pc, &[rw_class(exclusive)]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn java_lock(lock: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Acquire, lock, pc, &[LockClass::Mutex as u64]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn java_unlock(lock: usize, pc: usize) -> c_int {
    // SAFETY: see `record`.
    unsafe { record(Kind::Release, lock, pc, &[LockClass::Mutex as u64]) };
    1
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn java_lock_rec(lock: usize, times: c_int, pc: usize) {
    for _ in 0..times.clamp(1, MOST as c_int) {
        // SAFETY: see `record`.
        unsafe { java_lock(lock, pc) };
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn java_read_lock(lock: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Acquire, lock, pc, &[LockClass::Read as u64]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn java_read_unlock(lock: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::Release, lock, pc, &[LockClass::Read as u64]) };
}

interpose! {
    __tsan_mutex_create(2) => created;
    __tsan_mutex_destroy(2) => destroyed;
    __tsan_mutex_pre_lock(2) => pre_lock;
    __tsan_mutex_post_lock(3) => post_lock;
    __tsan_mutex_pre_unlock(2) => pre_unlock;
    __tsan_mutex_post_unlock(2) => post_unlock;
    __tsan_mutex_pre_signal(2) => code_begins;
    __tsan_mutex_post_signal(2) => code_ends;
    __tsan_mutex_pre_divert(2) => code_ends;
    __tsan_mutex_post_divert(2) => code_begins;
    AnnotateRWLockCreate(3) => rw_created;
    AnnotateRWLockCreateStatic(3) => rw_created;
    AnnotateRWLockDestroy(3) => rw_destroyed;
    AnnotateRWLockAcquired(4) => rw_acquired;
    AnnotateRWLockReleased(4) => rw_released;
    __tsan_java_mutex_lock(1) => java_lock;
    __tsan_java_mutex_unlock(1) => java_unlock;
    __tsan_java_mutex_lock_rec(2) => java_lock_rec;
    __tsan_java_mutex_unlock_rec(1) => java_unlock;
    __tsan_java_mutex_read_lock(1) => java_read_lock;
    __tsan_java_mutex_read_unlock(1) => java_read_unlock;
}
