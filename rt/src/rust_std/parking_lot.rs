//! `parking_lot::Condvar`: a word with the mutex of the threads that wait.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    lock_api::{MUTEX, recorded, silently},
    method::{Enclosed, encloses, is_true},
    mutex::arrive,
};
use crate::{
    control::{self, NEVER},
    event,
    intercept::cond,
    own_lock::{self, given_up, taken},
    sys,
};

/// The bit of a locked mutex.
const LOCKED: u8 = 1;
const NANOSECONDS: usize = 1_000_000_000;
/// The result of a wait that timed out.
const TIMED_OUT: i32 = 110;

/// The value of the word of a condition variable for which no thread waits.
pub const NOBODY: usize = 0;

/// Whether a number of nanoseconds belongs to a time.
pub fn is_time(nanoseconds: usize) -> bool {
    nanoseconds & (u32::MAX as usize) < NANOSECONDS
}

/// A wait, and where it was called.
struct Wait {
    kind: Kind,
    cond: usize,
    mutex: usize,
    pc: usize,
}

/// The last two arguments are the time at which the wait ends, by the monotonic clock; without one, the number of
/// nanoseconds is none that a time has. Returns whether the time passed.
///
/// # Safety
/// As for `Condvar::wait_until_internal` of `parking_lot`.
unsafe extern "C-unwind" fn do_wait(
    cond: usize,
    mutex: usize,
    seconds: usize,
    nanoseconds: usize,
    pc: usize,
    method: Enclosed,
) -> usize {
    let arguments = [cond, mutex, seconds, nanoseconds];
    let is_timed = is_time(nanoseconds);
    let nanoseconds = nanoseconds & u32::MAX as usize;
    let kind = if is_timed { Kind::TimedWait } else { Kind::Wait };
    let wait = Wait { kind, cond, mutex, pc };
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let Some(slot) = recorded() else { return method.call(arguments) };
        let known = (*(cond as *const AtomicUsize)).load(Ordering::Relaxed);
        if known != NOBODY && known != mutex {
            // It panics: all threads that wait must have the same mutex.
            return method.call(arguments);
        }
        if control::is_on() {
            let time = seconds.saturating_mul(NANOSECONDS).saturating_add(nanoseconds) as u64;
            let deadline = if is_timed { control::time::when(sys::MONOTONIC, time) } else { NEVER };
            return usize::from(wait_in_scheduler(slot, &wait, deadline));
        }
        cond::begin(slot, kind, cond, mutex, pc);
        event::disarm(slot);
        given_up(mutex, false, 1);
        let result = silently(slot, method, arguments);
        taken(mutex, slot, false, 1);
        cond::end(slot, cond, mutex, pc, if is_true(result) { TIMED_OUT } else { 0 });
        result
    }
}

/// Waits in a controlled run: only the scheduler knows the threads that wait. Returns whether the time
/// passed.
///
/// # Safety
/// The condition variable and the mutex live, and the thread, whose slot it is, holds the mutex.
unsafe fn wait_in_scheduler(slot: *mut ThreadSlot, wait: &Wait, deadline: u64) -> bool {
    let Wait { kind, cond, mutex, pc } = *wait;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let state = &*(cond as *const AtomicUsize);
        let word = &*(mutex as *const AtomicU8);
        arrive(slot, Kind::WaitRelease, mutex, pc);
        event::note(slot, Kind::WaitRelease, pc, mutex, &[]);
        event::note(slot, kind, pc, cond, &[mutex as u64]);
        state.store(mutex, Ordering::Relaxed);
        let late = control::block_after(slot, (Kind::Wait, cond, pc), deadline, || {
            word.fetch_and(!LOCKED, Ordering::Release);
            given_up(mutex, false, 1);
        });
        forget_mutex(cond);
        control::before(slot, Kind::WaitAcquire, pc, mutex);
        own_lock::wait_for(mutex, slot, MUTEX, pc);
        // The mutex is reserved, unless threads run freely by now.
        while word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED != 0 {
            sys::yield_now();
        }
        taken(mutex, slot, false, 1);
        let result = if late { TIMED_OUT as u64 } else { 0 };
        event::note(slot, Kind::WaitAcquire, pc, mutex, &[cond as u64, result]);
        late
    }
}

/// Clears the word of a condition variable if no thread waits any more.
///
/// # Safety
/// The condition variable lives.
unsafe fn forget_mutex(cond: usize) {
    if control::is_on() && !control::with_scheduler(|it| it.is_awaited(Kind::Wait, cond)) {
        // SAFETY: guaranteed by the caller.
        unsafe { (*(cond as *const AtomicUsize)).store(NOBODY, Ordering::Relaxed) };
    }
}

/// Wakes a thread that waits in the scheduler. Returns the number of threads.
pub fn notify_one_waiting(cond: usize) -> usize {
    let count = usize::from(control::release_one(Kind::Wait, cond));
    // SAFETY: the caller has a reference to the condition variable.
    unsafe { forget_mutex(cond) };
    count
}

/// Wakes all threads that wait in the scheduler. Returns their number.
pub fn notify_all_waiting(cond: usize) -> usize {
    let count = control::with_scheduler(|it| it.waiters(Kind::Wait, cond));
    control::release(Kind::Wait, cond);
    // SAFETY: the caller has a reference to the condition variable.
    unsafe { forget_mutex(cond) };
    count
}

/// Records a notification, and gives it to threads that wait in the scheduler by `release`, which returns
/// their number. Returns the number of threads that were notified.
///
/// # Safety
/// `cond` and `method` are the argument and the function that was called.
unsafe fn notify(
    (kind, cond, pc): (Kind, usize, usize),
    method: Enclosed,
    release: impl FnOnce() -> usize,
) -> usize {
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let arguments = [cond, 0, 0, 0];
        let Some(slot) = recorded() else { return method.call(arguments) };
        arrive(slot, kind, cond, pc);
        event::note(slot, kind, pc, cond, &[]);
        let released = if control::was_on() { release() } else { 0 };
        if control::is_on() {
            return released;
        }
        released + silently(slot, method, arguments)
    }
}

/// # Safety
/// As for `Condvar::notify_one` of `parking_lot`.
unsafe extern "C-unwind" fn do_notify_one(
    cond: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
    method: Enclosed,
) -> usize {
    let release = || notify_one_waiting(cond);
    // SAFETY: guaranteed by the caller.
    usize::from(unsafe { notify((Kind::Signal, cond, pc), method, release) } != 0)
}

/// # Safety
/// As for `Condvar::notify_all` of `parking_lot`.
unsafe extern "C-unwind" fn do_notify_all(
    cond: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
    method: Enclosed,
) -> usize {
    let release = || notify_all_waiting(cond);
    // SAFETY: guaranteed by the caller.
    unsafe { notify((Kind::Broadcast, cond, pc), method, release) }
}

encloses! {
    wait => do_wait;
    notify_one => do_notify_one;
    notify_all => do_notify_all;
}
