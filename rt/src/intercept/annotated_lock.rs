//! Locks that a program implements itself and describes by ThreadSanitizer's annotations.
//!
//! The calls before and after an operation of the lock enclose the program's own code, whose accesses and
//! atomic operations are not recorded: the annotations say what they mean. A controlled run must not let a thread enter that code while another thread
//! holds the lock: it would spin there, or sleep in a way that the scheduler does not see. So the runtime
//! notes who holds which annotated lock ([`HELD`]), and a thread waits in the scheduler before it enters
//! the code. A deadlock of such locks is then found like one of mutexes.

use core::{
    cell::UnsafeCell,
    ffi::c_int,
    sync::atomic::{AtomicBool, Ordering},
};

use norn_abi::{Kind, LockClass, ObjectClass, arena::ThreadSlot, lock::TRY};

use super::{ignore, interpose};
use crate::{
    control::{self, NEVER},
    event, sys,
    thread::{self, own},
};

// Flags of `__tsan_mutex_*`, from `sanitizer/tsan_interface.h`.
const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK: u32 = 1 << 4;
const TRY_LOCK_FAILED: u32 = 1 << 5;
const RECURSIVE_LOCK: u32 = 1 << 6;
const RECURSIVE_UNLOCK: u32 = 1 << 7;

const EBUSY: u64 = 16;

fn class(flags: u32) -> u64 {
    let class = if flags & READ_LOCK != 0 { LockClass::Read } else { LockClass::Mutex };
    class as u64 | if flags & TRY_LOCK != 0 { TRY } else { 0 }
}

/// A lock that is held.
#[derive(Clone, Copy)]
struct Hold {
    /// 0 if the entry is free.
    lock: usize,
    /// The slot of the thread that holds it exclusively, or that is about to; 0 if none.
    writer: usize,
    /// In a controlled run: the call before the lock was taken exclusively. The scheduler decided there,
    /// so it is the site of the event.
    pc: usize,
    depth: u32,
    readers: u32,
}

const NONE: Hold = Hold { lock: 0, writer: 0, pc: 0, depth: 0, readers: 0 };

/// Maximum number of annotated locks that are held at once. If there are more, threads may spin in the
/// code of the lock.
const MOST: usize = 1024;

/// The annotated locks that are held.
struct Table {
    busy: AtomicBool,
    holds: UnsafeCell<[Hold; MOST]>,
}

// SAFETY: the entries are accessed only by the thread that has set `busy`.
unsafe impl Sync for Table {}

static HELD: Table = Table { busy: AtomicBool::new(false), holds: UnsafeCell::new([NONE; MOST]) };

impl Table {
    /// Runs `f` with the entry of a lock, which may be new; with none if there are too many. An entry
    /// that `f` leaves unheld becomes free.
    fn with<T>(&self, lock: usize, f: impl FnOnce(&mut Hold) -> T) -> Option<T> {
        while self.busy.swap(true, Ordering::Acquire) {
            sys::yield_now();
        }
        // SAFETY: `busy` is set.
        let holds = unsafe { &mut *self.holds.get() };
        let found = holds.iter().position(|it| it.lock == lock);
        let entry = found.or_else(|| holds.iter().position(|it| it.lock == 0));
        let result = entry.and_then(|it| holds.get_mut(it)).map(|hold| {
            hold.lock = lock;
            let result = f(hold);
            if hold.writer == 0 && hold.readers == 0 {
                *hold = NONE;
            }
            result
        });
        self.busy.store(false, Ordering::Release);
        result
    }
}

/// Reserves a lock for a thread that is about to take it. False if another thread holds it.
fn reserve(lock: usize, slot: *mut ThreadSlot, shared: bool, pc: usize) -> bool {
    let slot = slot as usize;
    let reserved = HELD.with(lock, |hold| {
        if hold.writer == slot {
            hold.pc = pc;
            return true;
        }
        let free = hold.writer == 0 && (shared || hold.readers == 0);
        if free && !shared {
            (hold.writer, hold.pc) = (slot, pc);
        }
        free
    });
    reserved.unwrap_or(true)
}

/// Notes that a thread has taken a lock, `times` times. Returns the site at which the scheduler decided
/// that, if it did.
fn taken(lock: usize, slot: *mut ThreadSlot, shared: bool, times: u32) -> Option<usize> {
    let pc = HELD.with(lock, |hold| {
        let pc = core::mem::take(&mut hold.pc);
        if shared {
            hold.readers += times;
        } else {
            hold.depth = if hold.writer == slot as usize { hold.depth + times } else { times };
            hold.writer = slot as usize;
        }
        pc
    });
    pc.filter(|it| *it != 0)
}

/// Notes that a thread has released a lock.
fn given_up(lock: usize, shared: bool, times: u32) {
    HELD.with(lock, |hold| {
        if shared {
            hold.readers = hold.readers.saturating_sub(times);
        } else {
            hold.depth = hold.depth.saturating_sub(times);
            if hold.depth == 0 {
                hold.writer = 0;
            }
        }
    });
    control::release(Kind::Acquire, lock);
}

/// Enters the code of a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn enter(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*own(slot)).lock_code = (*own(slot)).lock_code.saturating_add(1);
        ignore::begin(slot);
    }
}

/// Leaves the code of a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn leave(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*own(slot)).lock_code = (*own(slot)).lock_code.saturating_sub(1);
        ignore::end(slot);
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn pre_lock(lock: usize, flags: u32, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: the slot is the current thread's.
    unsafe {
        if flags & TRY_LOCK == 0 {
            control::before(slot, Kind::Acquire, pc, lock);
            while control::is_on() && !reserve(lock, slot, flags & READ_LOCK != 0, pc) {
                control::block(slot, Kind::Acquire, lock, pc, NEVER);
            }
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
            event::note(slot, Kind::AcquireFailed, pc, lock, &[class(flags), EBUSY]);
        }
        leave(slot);
    }
}

/// How often a thread holds a lock exclusively.
fn depth(lock: usize, slot: *mut ThreadSlot) -> u32 {
    let depth = HELD.with(lock, |hold| (hold.writer == slot as usize).then_some(hold.depth));
    depth.flatten().unwrap_or(1).max(1)
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
