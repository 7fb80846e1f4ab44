//! `std::sync::Mutex`.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
};

use norn_abi::{Kind, LockClass, arena::ThreadSlot, lock::TRY};

use super::{
    futex::{BUSY, Request},
    redirect::{entries, results},
};
use crate::{
    control::{self, heap},
    event,
};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
/// Locked, and other threads may wait.
const CONTENDED: u32 = 2;

const MUTEX: u64 = LockClass::Mutex as u64;

/// Asks the scheduler before an operation on a lock, and checks that its memory was not freed.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn arrive(slot: *mut ThreadSlot, kind: Kind, lock: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        control::before(slot, kind, pc, lock);
        if control::was_on() {
            heap::check(slot, lock, size_of::<u32>(), pc);
        }
    }
}

/// Takes a mutex, and waits until that is possible.
///
/// # Safety
/// `word` is the word of a mutex, and `request` is about it.
pub unsafe fn take(word: &AtomicU32, request: &Request) {
    if try_take(word) {
        return;
    }
    // A thread that has waited does not know whether others wait, so it marks the lock as contended.
    while word.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
        // SAFETY: guaranteed by the caller.
        unsafe { request.wait(word, CONTENDED) };
    }
}

fn try_take(word: &AtomicU32) -> bool {
    word.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Releases a mutex, and lets the threads that wait for it try again.
pub fn give(word: &AtomicU32, request: &Request) {
    let contended = word.swap(UNLOCKED, Ordering::Release) == CONTENDED;
    if contended || control::is_on() {
        request.wake(word, 1);
    }
}

/// In place of a compare-exchange, which never fails.
///
/// # Safety
/// `word` is the word of a mutex that lives.
unsafe extern "C" fn do_lock(
    word: &AtomicU32,
    _: u32,
    _: u32,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u32 {
    let lock = word.as_ptr() as usize;
    let request = Request::new(lock, pc);
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let Some(slot) = request.slot() else {
            take(word, &request);
            return UNLOCKED;
        };
        arrive(slot, Kind::Acquire, lock, pc);
        event::block(slot, Kind::Acquire, lock, pc);
        take(word, &request);
        event::unblock(slot);
        event::note(slot, Kind::Acquire, pc, lock, &[MUTEX]);
    }
    UNLOCKED
}

/// # Safety
/// `word` is the word of a mutex that lives.
unsafe extern "C" fn do_try_lock(
    word: &AtomicU32,
    _: u32,
    _: u32,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u32 {
    let lock = word.as_ptr() as usize;
    let slot = Request::new(lock, pc).slot();
    // SAFETY: the slot is the current thread's.
    unsafe {
        if let Some(slot) = slot {
            arrive(slot, Kind::Acquire, lock, pc);
        }
        let taken = try_take(word);
        match slot {
            Some(slot) if taken => event::note(slot, Kind::Acquire, pc, lock, &[MUTEX | TRY]),
            Some(slot) => event::note(slot, Kind::AcquireFailed, pc, lock, &[MUTEX | TRY, BUSY]),
            None => {}
        }
        if taken { UNLOCKED } else { LOCKED }
    }
}

/// In place of an exchange. It returns that no thread waits, since those that wait have been woken.
///
/// # Safety
/// `word` is the word of a mutex that the thread holds.
unsafe extern "C" fn do_unlock(word: &AtomicU32, _: u32, _: c_int, pc: usize) -> u32 {
    let lock = word.as_ptr() as usize;
    let request = Request::new(lock, pc);
    if let Some(slot) = request.slot() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            arrive(slot, Kind::Release, lock, pc);
            event::note(slot, Kind::Release, pc, lock, &[MUTEX]);
        }
    }
    give(word, &request);
    LOCKED
}

/// # Safety
/// As for `Mutex::lock` of `std`.
unsafe extern "C" fn do_lock_call(word: &AtomicU32, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { do_lock(word, UNLOCKED, LOCKED, 0, 0, pc) };
}

/// # Safety
/// As for `Mutex::try_lock` of `std`.
unsafe extern "C" fn do_try_lock_call(word: &AtomicU32, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { do_try_lock(word, UNLOCKED, LOCKED, 0, 0, pc) == UNLOCKED }
}

/// # Safety
/// As for `Mutex::unlock` of `std`.
unsafe extern "C" fn do_unlock_call(word: &AtomicU32, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { do_unlock(word, UNLOCKED, 0, pc) };
}

/// The flag that a mutex is poisoned is read when the mutex is locked, and so belongs to what the lock
/// protects.
///
/// # Safety
/// `flag` is the flag of a mutex.
unsafe extern "C" fn do_poison_load(flag: &AtomicU8) -> u8 {
    flag.load(Ordering::Relaxed)
}

/// The number of panicking threads is `std`'s own.
///
/// # Safety
/// `count` is the counter of `std`.
unsafe extern "C" fn do_panic_count_load(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

results! {
    do_lock_result => do_lock(AtomicU32);
    do_try_lock_result => do_try_lock(AtomicU32);
}

entries! {
    lock(5) => do_lock;
    lock_result(5) => do_lock_result;
    try_lock_result(5) => do_try_lock_result;
    try_lock(5) => do_try_lock;
    unlock(3) => do_unlock;
    lock_call(1) => do_lock_call;
    try_lock_call(1) => do_try_lock_call;
    unlock_call(1) => do_unlock_call;
    poison_load(2) => do_poison_load;
    panic_count_load(2) => do_panic_count_load;
}
