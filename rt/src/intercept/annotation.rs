//! ThreadSanitizer's annotations, by which programs describe their own synchronisation.

use norn_abi::{Kind, LockClass};

use super::interpose;
use crate::{event, thread};

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn record(kind: Kind, object: usize, pc: usize, args: &[u64]) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, kind, pc, object, args) };
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn after(object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::HappensAfter, object, pc, &[]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn before(object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::HappensBefore, object, pc, &[]) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn annotate_after(_: usize, _: usize, object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { after(object, pc) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn annotate_before(_: usize, _: usize, object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { before(object, pc) };
}

const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK: u32 = 1 << 4;
const TRY_LOCK_FAILED: u32 = 1 << 5;

fn class(flags: u32) -> u64 {
    let class = if flags & READ_LOCK != 0 { LockClass::Read } else { LockClass::Mutex };
    class as u64 | if flags & TRY_LOCK != 0 { 8 } else { 0 }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn post_lock(lock: usize, flags: u32, _recursion: i32, pc: usize) {
    const EBUSY: u64 = 16;
    // SAFETY: see `record`.
    unsafe {
        if flags & TRY_LOCK_FAILED == 0 {
            record(Kind::Acquire, lock, pc, &[class(flags)]);
        } else {
            record(Kind::AcquireFailed, lock, pc, &[class(flags), EBUSY]);
        }
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn pre_unlock(lock: usize, flags: u32, pc: usize) -> i32 {
    // SAFETY: see `record`.
    unsafe { record(Kind::Release, lock, pc, &[class(flags)]) };
    1
}

/// # Safety
/// None: it does nothing.
unsafe extern "C" fn nothing() -> usize {
    0
}

macro_rules! ignored {
    ($($name:ident)*) => { interpose! { $( $name(0) => nothing; )* } };
}

interpose! {
    __tsan_acquire(1) => after;
    __tsan_release(1) => before;
    AnnotateHappensBefore(3) => annotate_before;
    AnnotateHappensAfter(3) => annotate_after;
    __tsan_mutex_post_lock(3) => post_lock;
    __tsan_mutex_pre_unlock(2) => pre_unlock;
}
ignored! {
    __tsan_mutex_create __tsan_mutex_destroy __tsan_mutex_pre_lock __tsan_mutex_post_unlock
    __tsan_mutex_pre_signal __tsan_mutex_post_signal __tsan_mutex_pre_divert
    __tsan_mutex_post_divert __tsan_get_current_fiber __tsan_create_fiber __tsan_destroy_fiber
    __tsan_switch_to_fiber __tsan_set_fiber_name __tsan_flush_memory
    __tsan_ignore_thread_begin __tsan_ignore_thread_end
    AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd AnnotateIgnoreWritesBegin
    AnnotateIgnoreWritesEnd AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd AnnotateBenignRace
    AnnotateBenignRaceSized AnnotateNewMemory AnnotateThreadName AnnotateRWLockCreate
    AnnotateRWLockDestroy AnnotateRWLockAcquired AnnotateRWLockReleased
}
