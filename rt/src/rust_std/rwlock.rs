//! `std::sync::RwLock`.
//!
//! `read` loads the state before it exchanges it, and calls its slow path if the lock is taken. The load
//! returns that the lock is free, and the exchange waits for that.

use core::ffi::c_int;

use norn_abi::{
    Kind, LockClass,
    lock::{QUEUED, TRY},
};

use super::{
    futex::{BUSY, Request},
    mutex::arrive,
    redirect::{entries, results},
    rwlock_state::{READ_LOCKED, State, WRITE_LOCKED},
};
use crate::event;

const READ: u64 = LockClass::Read as u64;
const WRITE: u64 = LockClass::Write as u64;
/// The state of a lock that no thread holds or waits for.
const FREE: u32 = 0;

/// Takes a lock by `take`, which waits until that is possible.
///
/// # Safety
/// The lock lives.
unsafe fn acquire(lock: &State, class: u64, pc: usize, take: impl FnOnce(&State, &Request)) -> u32 {
    let object = lock.state.as_ptr() as usize;
    let request = Request::new(object, pc);
    let Some(slot) = request.slot() else {
        take(lock, &request);
        return FREE;
    };
    // SAFETY: the slot is the current thread's.
    unsafe {
        arrive(slot, Kind::Acquire, object, pc);
        event::block(slot, Kind::Acquire, object, pc);
        take(lock, &request);
        event::unblock(slot);
        event::note(slot, Kind::Acquire, pc, object, &[class]);
    }
    FREE
}

/// Takes a lock if `take` succeeds at once. Returns the expected state of a compare-exchange that
/// succeeds, or else the state.
///
/// # Safety
/// The lock lives.
unsafe fn attempt(
    lock: &State,
    (class, expected, pc): (u64, u32, usize),
    take: impl FnOnce(&State) -> bool,
) -> u32 {
    let object = lock.state.as_ptr() as usize;
    let slot = Request::new(object, pc).slot();
    // SAFETY: the slot is the current thread's.
    unsafe {
        if let Some(slot) = slot {
            arrive(slot, Kind::Acquire, object, pc);
        }
        let taken = take(lock);
        match slot {
            Some(slot) if taken => event::note(slot, Kind::Acquire, pc, object, &[class | TRY]),
            Some(slot) => event::note(slot, Kind::AcquireFailed, pc, object, &[class | TRY, BUSY]),
            None => {}
        }
        if taken { expected } else { lock.state.load(core::sync::atomic::Ordering::Relaxed) }
    }
}

/// The load before an attempt. If the attempt would fail, the program does not make it, so that its
/// failure is recorded here.
///
/// # Safety
/// The lock lives.
unsafe fn look(
    lock: &State,
    (class, pc): (u64, usize),
    is_free: impl FnOnce(&State) -> bool,
) -> u32 {
    let state = lock.state.load(core::sync::atomic::Ordering::Relaxed);
    if !is_free(lock) {
        // SAFETY: guaranteed by the caller.
        return unsafe { attempt(lock, (class, state, pc), |_| false) };
    }
    state
}

/// Releases a lock by `give`, which wakes the threads that wait.
///
/// # Safety
/// The thread holds the lock.
unsafe fn release(lock: &State, class: u64, pc: usize, give: impl FnOnce(&State, &Request)) {
    let object = lock.state.as_ptr() as usize;
    let request = Request::new(object, pc);
    if let Some(slot) = request.slot() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            arrive(slot, Kind::Release, object, pc);
            event::note(slot, Kind::Release, pc, object, &[class]);
        }
    }
    give(lock, &request);
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_read_load(_: &State, _: c_int) -> u32 {
    FREE
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_read(lock: &State, _: u32, _: u32, _: c_int, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { acquire(lock, READ | QUEUED, pc, |lock, request| lock.read(request)) }
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_write(lock: &State, _: u32, _: u32, _: c_int, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { acquire(lock, WRITE, pc, |lock, request| lock.write(request)) }
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_try_read_load(lock: &State, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { look(lock, (READ, pc), State::can_read) }
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_try_write_load(lock: &State, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { look(lock, (WRITE, pc), State::can_write) }
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_try_read(
    lock: &State,
    expected: u32,
    _: u32,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(lock, (READ, expected, pc), State::try_read) }
}

/// # Safety
/// The lock lives.
unsafe extern "C" fn do_try_write(
    lock: &State,
    expected: u32,
    _: u32,
    _: c_int,
    _: c_int,
    pc: usize,
) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(lock, (WRITE, expected, pc), State::try_write) }
}

/// # Safety
/// The thread holds the lock.
unsafe extern "C" fn do_read_unlock(lock: &State, _: u32, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { release(lock, READ, pc, State::read_unlock) };
    READ_LOCKED
}

/// # Safety
/// The thread holds the lock.
unsafe extern "C" fn do_write_unlock(lock: &State, _: u32, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { release(lock, WRITE, pc, State::write_unlock) };
    WRITE_LOCKED
}

/// A writer that becomes a reader: the lock is released, and acquired by the reader before any other
/// thread can.
///
/// # Safety
/// The thread holds the lock.
unsafe extern "C" fn do_downgrade(lock: &State, _: u32, _: c_int, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        release(lock, WRITE, pc, State::downgrade);
        let object = lock.state.as_ptr() as usize;
        if let Some(slot) = Request::new(object, pc).slot() {
            event::note(slot, Kind::Acquire, pc, object, &[READ]);
        }
    }
    WRITE_LOCKED
}

/// `name => function(arguments);`: a function of `std`, by the operation in it.
macro_rules! calls {
    ($($name:ident => $function:ident($($argument:expr),*);)*) => { $(
        /// # Safety
        /// As for the function of `std`.
        unsafe extern "C" fn $name(lock: &State, pc: usize) {
            // SAFETY: guaranteed by the caller.
            unsafe { $function(lock, $($argument,)* pc) };
        }
    )* };
}

calls! {
    do_read_call => do_read(0, 0, 0, 0);
    do_write_call => do_write(0, 0, 0, 0);
    do_read_unlock_call => do_read_unlock(0, 0);
    do_write_unlock_call => do_write_unlock(0, 0);
    do_downgrade_call => do_downgrade(0, 0);
}

/// A state that no lock has.
const IMPOSSIBLE: u32 = u32::MAX;

/// # Safety
/// As for `RwLock::try_read` of `std`.
unsafe extern "C" fn do_try_read_call(lock: &State, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(lock, (READ, IMPOSSIBLE, pc), State::try_read) == IMPOSSIBLE }
}

/// # Safety
/// As for `RwLock::try_write` of `std`.
unsafe extern "C" fn do_try_write_call(lock: &State, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(lock, (WRITE, IMPOSSIBLE, pc), State::try_write) == IMPOSSIBLE }
}

results! {
    do_read_result => do_read_expected(State);
    do_write_result => do_write(State);
    do_try_read_result => do_try_read(State);
    do_try_write_result => do_try_write(State);
}

/// # Safety
/// The lock lives.
unsafe fn do_read_expected(
    lock: &State,
    expected: u32,
    new: u32,
    order: c_int,
    failure: c_int,
    pc: usize,
) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { do_read(lock, expected, new, order, failure, pc) };
    expected
}

entries! {
    read_result(5) => do_read_result;
    try_read_result(5) => do_try_read_result;
    write_result(5) => do_write_result;
    try_write_result(5) => do_try_write_result;
    read_load(2) => do_read_load;
    read(5) => do_read;
    try_read_load(2) => do_try_read_load;
    try_read(5) => do_try_read;
    read_unlock(3) => do_read_unlock;
    write(5) => do_write;
    try_write_load(2) => do_try_write_load;
    try_write(5) => do_try_write;
    write_unlock(3) => do_write_unlock;
    downgrade(3) => do_downgrade;
    read_call(1) => do_read_call;
    try_read_call(1) => do_try_read_call;
    read_unlock_call(1) => do_read_unlock_call;
    write_call(1) => do_write_call;
    try_write_call(1) => do_try_write_call;
    write_unlock_call(1) => do_write_unlock_call;
    downgrade_call(1) => do_downgrade_call;
}
