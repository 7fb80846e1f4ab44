//! Methods of locks that the compiler inlined; see [`lock_api`](super::lock_api).
//!
//! Such a method is an atomic operation in the user's code, and a call of a function of the lock if the operation fails.
//! That function takes the lock whatever its state is, and can be enclosed. So an attempt to take a lock at once always
//! fails here. A release, and an attempt that has no other function behind it, are performed here.
//!
//! Inside of enclosed functions the operations are only performed.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU8, AtomicU64, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot, rust_std::raw_lock};

use super::{
    lock_api::{MUTEX, READER, WRITER, acquired, manner, recorded, silently, try_lock_with},
    method::{Arguments, Enclosed, encloses},
    mutex::arrive,
    parking_lot::{NOBODY, is_time, notify_all_waiting, notify_one_waiting},
    redirect::entries,
};
use crate::{
    control, event,
    own_lock::{self, BUSY, Manner, class, given_up},
};

/// What an attempt sees: all bits, which no state of a free lock has.
const SEEN: u64 = u64::MAX;
/// The bit of a locked mutex of `parking_lot`.
const LOCKED: u8 = 1;

/// `name(type)`: the compare-exchange as the program performs it.
macro_rules! compare_exchange {
    ($($name:ident($object:ty, $value:ty);)*) => { $(
        fn $name(word: &$object, expected: $value, new: $value) -> $value {
            match word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(seen) | Err(seen) => seen,
            }
        }
    )* };
}

compare_exchange! {
    exchange8(AtomicU8, u8);
    exchange64(AtomicU64, u64);
}

/// Fails without an effect on the lock, if the thread is recorded.
///
/// # Safety
/// `word` is the word of a lock that lives.
unsafe extern "C" fn do_attempt8(
    word: &AtomicU8,
    expected: u8,
    new: u8,
    _: c_int,
    _: c_int,
    _: usize,
) -> u8 {
    if recorded().is_some() { !expected } else { exchange8(word, expected, new) }
}

/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_attempt64(
    word: &AtomicU64,
    expected: u64,
    new: u64,
    _: c_int,
    _: c_int,
    _: usize,
) -> u64 {
    if recorded().is_some() { !expected } else { exchange64(word, expected, new) }
}

/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_attempt_load64(word: &AtomicU64, _: c_int, _: usize) -> u64 {
    if recorded().is_some() { SEEN } else { word.load(Ordering::Acquire) }
}

/// The first operation of an attempt that may fail: if the lock is held, it is also the last one.
///
/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_try_load8(word: &AtomicU8, _: c_int, pc: usize) -> u8 {
    let lock = word.as_ptr() as usize;
    let Some(slot) = recorded() else { return word.load(Ordering::Acquire) };
    // SAFETY: the slot is the current thread's.
    unsafe {
        arrive(slot, Kind::Acquire, lock, pc);
        let seen = word.load(Ordering::Acquire);
        if seen & LOCKED != 0 {
            event::note(slot, Kind::AcquireFailed, pc, lock, &[class(MUTEX, true), BUSY]);
        }
        seen
    }
}

/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_try8(
    word: &AtomicU8,
    expected: u8,
    new: u8,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u8 {
    let seen = exchange8(word, expected, new);
    if let Some(slot) = recorded().filter(|_| seen == expected) {
        // SAFETY: the slot is the current thread's.
        unsafe { acquired(slot, word.as_ptr() as usize, (MUTEX, true), pc) };
    }
    seen
}

/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_try64(
    word: &AtomicU64,
    expected: u64,
    new: u64,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u64 {
    let lock = word.as_ptr() as usize;
    let Some(slot) = recorded() else { return exchange64(word, expected, new) };
    // SAFETY: the slot is the current thread's.
    unsafe {
        arrive(slot, Kind::Acquire, lock, pc);
        let seen = exchange64(word, expected, new);
        if seen == expected {
            acquired(slot, lock, (WRITER, true), pc);
        } else {
            event::note(slot, Kind::AcquireFailed, pc, lock, &[class(WRITER, true), BUSY]);
        }
        seen
    }
}

/// Releases a lock by `operation`. If that fails, the function that is called next releases it ([`do_given`]).
///
/// # Safety
/// The slot is the current thread's, which holds the lock.
unsafe fn give<T>(
    slot: *mut ThreadSlot,
    (lock, manner, pc): (usize, Manner, usize),
    operation: impl FnOnce() -> (T, bool),
) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe {
        arrive(slot, Kind::Release, lock, pc);
        event::note(slot, Kind::Release, pc, lock, &[class(manner, false)]);
    }
    let (seen, is_done) = operation();
    if is_done {
        given_up(lock, manner.shared, 1);
    }
    seen
}

/// # Safety
/// `word` is the word of a lock that the thread holds.
unsafe extern "C" fn do_give8(
    word: &AtomicU8,
    expected: u8,
    new: u8,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u8 {
    let Some(slot) = recorded() else { return exchange8(word, expected, new) };
    let operation = || {
        let seen = exchange8(word, expected, new);
        (seen, seen == expected)
    };
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe { give(slot, (word.as_ptr() as usize, MUTEX, pc), operation) }
}

/// # Safety
/// As for [`do_give8`].
unsafe extern "C" fn do_give64(
    word: &AtomicU64,
    expected: u64,
    new: u64,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u64 {
    let Some(slot) = recorded() else { return exchange64(word, expected, new) };
    let operation = || {
        let seen = exchange64(word, expected, new);
        (seen, seen == expected)
    };
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe { give(slot, (word.as_ptr() as usize, WRITER, pc), operation) }
}

/// `name(type) => release, attempt;`: an operation that the compiler has merged from several ones. Those that leave nothing in
/// the word release the lock, the others take it.
macro_rules! merged {
    ($($name:ident($object:ty, $value:ty) => $give:ident, $attempt:ident;)*) => { $(
        /// # Safety
        /// As for the functions for which it stands.
        unsafe extern "C" fn $name(
            word: &$object,
            expected: $value,
            new: $value,
            order: c_int,
            failure: c_int,
            pc: usize,
        ) -> $value {
            // SAFETY: guaranteed by the caller.
            unsafe {
                match new {
                    0 => $give(word, expected, new, order, failure, pc),
                    _ => $attempt(word, expected, new, order, failure, pc),
                }
            }
        }
    )* };
}

merged! {
    do_merged8(AtomicU8, u8) => do_give8, do_attempt8;
    do_merged64(AtomicU64, u64) => do_give64, do_attempt64;
}

/// # Safety
/// As for [`do_give8`].
unsafe extern "C" fn do_give_shared64(word: &AtomicU64, count: u64, _: c_int, pc: usize) -> u64 {
    let operation = || (word.fetch_sub(count, Ordering::AcqRel), true);
    let Some(slot) = recorded() else { return operation().0 };
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe { give(slot, (word.as_ptr() as usize, READER, pc), operation) }
}

/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_load8(word: &AtomicU8, _: c_int, _: usize) -> u8 {
    word.load(Ordering::Acquire)
}

/// # Safety
/// As for [`do_attempt8`].
unsafe extern "C" fn do_load64(word: &AtomicU64, _: c_int, _: usize) -> u64 {
    word.load(Ordering::Acquire)
}

/// Waits for a lock, or tries to take it until a time. Returns whether the thread has it.
///
/// # Safety
/// These are the arguments of the method, of which the first one is the lock.
unsafe fn wait_until(
    arguments: Arguments,
    (is_timed, manner, pc): (bool, Manner, usize),
    method: Enclosed,
) -> usize {
    let lock = arguments[0];
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let Some(slot) = recorded() else { return method.call(arguments) };
        if is_timed {
            return try_lock_with(slot, (method, arguments), manner, pc);
        }
        arrive(slot, Kind::Acquire, lock, pc);
        own_lock::wait_for(lock, slot, manner, pc);
        event::block(slot, Kind::Acquire, lock, pc);
        let result = silently(slot, method, arguments);
        event::unblock(slot);
        acquired(slot, lock, (manner, false), pc);
        result
    }
}

/// # Safety
/// As for the function: a lock, and a time.
unsafe extern "C-unwind" fn do_lock_until(
    lock: usize,
    seconds: usize,
    nanoseconds: usize,
    d: usize,
    pc: usize,
    method: Enclosed,
) -> usize {
    let how = (is_time(nanoseconds), manner(method), pc);
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until([lock, seconds, nanoseconds, d], how, method) }
}

/// # Safety
/// As for the function: a lock, whether a thread that reads already may read again before writers that wait, and a time.
unsafe extern "C-unwind" fn do_lock_shared_until(
    lock: usize,
    recursive: usize,
    seconds: usize,
    nanoseconds: usize,
    pc: usize,
    method: Enclosed,
) -> usize {
    let manner = manner(method);
    let writers_first = manner.writers_first && recursive & 1 == 0;
    let how = (is_time(nanoseconds), Manner { writers_first, ..manner }, pc);
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until([lock, recursive, seconds, nanoseconds], how, method) }
}

/// The release is recorded.
///
/// # Safety
/// As for the function.
unsafe extern "C-unwind" fn do_given(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    _: usize,
    method: Enclosed,
) -> usize {
    let arguments = [a, b, c, d];
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let Some(slot) = recorded() else { return method.call(arguments) };
        let result = silently(slot, method, arguments);
        given_up(a, method.flags() & raw_lock::SHARED != 0, 1);
        result
    }
}

/// Records a notification where the program reads whether a thread waits. In a controlled run only the scheduler
/// knows; the result is then the number of threads that it woke, for [`do_notify_slow`].
///
/// # Safety
/// `cond` is the word of a condition variable that lives.
unsafe fn notify(
    cond: &AtomicU64,
    kind: Kind,
    pc: usize,
    wake: impl FnOnce(usize) -> usize,
) -> u64 {
    let address = cond.as_ptr() as usize;
    let load = || cond.load(Ordering::Relaxed);
    let Some(slot) = recorded() else { return load() };
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        arrive(slot, kind, address, pc);
        event::note(slot, kind, pc, address, &[]);
    }
    let woken = if control::was_on() { wake(address) } else { 0 };
    if control::is_on() { woken as u64 } else { load() }
}

/// # Safety
/// As for [`notify`].
unsafe extern "C" fn do_notify_one_load(cond: &AtomicU64, _: c_int, pc: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { notify(cond, Kind::Signal, pc, notify_one_waiting) }
}

/// # Safety
/// As for [`notify`].
unsafe extern "C" fn do_notify_all_load(cond: &AtomicU64, _: c_int, pc: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { notify(cond, Kind::Broadcast, pc, notify_all_waiting) }
}

/// In a controlled run the threads are awake, and their number is the second argument.
///
/// # Safety
/// As for the function.
unsafe fn notify_slow(arguments: Arguments, method: Enclosed) -> usize {
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        match recorded() {
            Some(_) if control::is_on() => arguments[1],
            Some(slot) if arguments[1] > NOBODY => silently(slot, method, arguments),
            Some(_) => arguments[1],
            None => method.call(arguments),
        }
    }
}

/// # Safety
/// As for the function.
unsafe extern "C-unwind" fn do_notify_one_slow(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    _: usize,
    method: Enclosed,
) -> usize {
    // SAFETY: guaranteed by the caller.
    usize::from(unsafe { notify_slow([a, b, c, d], method) } & 0xff != 0)
}

/// # Safety
/// As for the function.
unsafe extern "C-unwind" fn do_notify_all_slow(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    _: usize,
    method: Enclosed,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { notify_slow([a, b, c, d], method) }
}

entries! {
    attempt8(5) => do_attempt8;
    attempt64(5) => do_attempt64;
    attempt_load64(2) => do_attempt_load64;
    try_load8(2) => do_try_load8;
    try8(5) => do_try8;
    try64(5) => do_try64;
    give8(5) => do_give8;
    give64(5) => do_give64;
    give_shared64(3) => do_give_shared64;
    merged8(5) => do_merged8;
    merged64(5) => do_merged64;
    load8(2) => do_load8;
    load64(2) => do_load64;
    notify_one_load(2) => do_notify_one_load;
    notify_all_load(2) => do_notify_all_load;
}

encloses! {
    lock_until => do_lock_until;
    lock_shared_until => do_lock_shared_until;
    given => do_given;
    notify_one_slow => do_notify_one_slow;
    notify_all_slow => do_notify_all_slow;
}
