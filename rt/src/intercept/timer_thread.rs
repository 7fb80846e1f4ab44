//! Timers that call a function in a thread (`SIGEV_THREAD`). Libc creates these threads where the
//! runtime does not see it. So the runtime has a thread for each such timer, which schedules can
//! name: it is created with the timer, and calls the function each time the timer expires.

use core::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot, receipt};

use super::{
    threads,
    timer::{CALLS, TABLE, UNUSED, put},
};
use crate::{
    channel::{self, Sending},
    control::{self, NEVER, Scheduler, TIMERS},
    event, real, sys, thread,
};

/// The setting of a timer in a run that is not controlled.
struct RealTimer {
    /// When it expires, by the monotonic clock; 0 if it is not armed.
    deadline: AtomicU64,
    interval: AtomicU64,
    /// Changes with the setting; the thread sleeps on this word.
    changes: AtomicU32,
    /// The timer is deleted: its thread ends.
    deleted: AtomicU32,
}

static REAL: [RealTimer; TIMERS] = [const {
    RealTimer {
        deadline: AtomicU64::new(0),
        interval: AtomicU64::new(0),
        changes: AtomicU32::new(0),
        deleted: AtomicU32::new(0),
    }
}; TIMERS];

/// The channel from the setting of a timer to its calls.
pub(super) fn channel(number: usize) -> u64 {
    channel::signal::of_timer(number)
}

/// The object that the thread of a timer waits for in the scheduler.
fn object(number: usize) -> usize {
    &raw const REAL[number % TIMERS] as usize
}

/// The current time, as the program sees it.
pub(super) fn clock(clock: c_int) -> u64 {
    if control::is_on() { control::time::read(clock) } else { sys::now(clock) }
}

/// Creates the thread of a timer. Returns the error.
///
/// # Safety
/// The current thread is recorded, and the program creates a timer.
pub(super) unsafe fn start(number: usize, pc: usize) -> c_int {
    let mut handle = 0usize;
    REAL[number].deadline.store(0, Ordering::Relaxed);
    REAL[number].deleted.store(0, Ordering::Relaxed);
    // SAFETY: the function is that of a thread.
    unsafe {
        let at = &raw mut handle as usize;
        let result = threads::create(at, 0, serve as *const () as usize, number, pc);
        if result == 0 {
            real::pthread_detach()(handle);
        }
        result
    }
}

/// The thread of a timer.
///
/// # Safety
/// Called first in a new thread, with the number of its timer.
unsafe extern "C-unwind" fn serve(number: *mut c_void) -> *mut c_void {
    let number = number as usize % TIMERS;
    // From zero, as the timer counts: it may have expired before this thread has its first turn.
    let mut served = 0;
    let Some(slot) = thread::recorded() else { return core::ptr::null_mut() };
    // SAFETY: the slot is the current thread's; the function and its argument are the program's.
    unsafe {
        while await_expiry(slot, number, &mut served) {
            let function = TABLE[number].function.load(Ordering::Relaxed);
            let value = TABLE[number].value.load(Ordering::Relaxed);
            let channel = channel(number) as usize;
            event::put(slot, Kind::Receive, 0, channel, &[1, receipt::LATEST]);
            core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize)>(function)(value);
        }
    }
    TABLE[number].kind.store(UNUSED, Ordering::Relaxed);
    core::ptr::null_mut()
}

/// Waits until the timer has expired again. Returns false if it is deleted.
///
/// # Safety
/// The slot is the current thread's.
unsafe fn await_expiry(slot: *mut ThreadSlot, number: usize, served: &mut u32) -> bool {
    let (timer, real) = (&TABLE[number], &REAL[number]);
    loop {
        // As in libc, to delete the timer does not stop the call for an expiry before that.
        if timer.expiries.load(Ordering::Relaxed) != *served {
            *served = served.wrapping_add(1);
            return true;
        }
        if real.deleted.load(Ordering::Relaxed) != 0 {
            return false;
        }
        if control::is_on() {
            // SAFETY: guaranteed by the caller.
            unsafe { control::block(slot, Kind::Sleep, object(number), 0, NEVER) };
            continue;
        }
        let changes = real.changes.load(Ordering::Acquire);
        let (now, deadline) = (sys::now(sys::MONOTONIC), real.deadline.load(Ordering::Relaxed));
        if deadline != 0 && deadline <= now {
            let interval = real.interval.load(Ordering::Relaxed);
            let next = if interval == 0 { 0 } else { deadline + interval };
            real.deadline.store(next, Ordering::Relaxed);
            timer.expiries.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let left = if deadline == 0 { u64::MAX } else { deadline - now };
        sys::futex_wait(real.changes.as_ptr(), changes, left);
    }
}

/// The timer has expired under control: its thread continues.
pub(super) fn wake(scheduler: &mut Scheduler, number: usize) {
    scheduler.release_all(Kind::Sleep, object(number));
}

/// Sets a timer in a run that is not controlled.
///
/// # Safety
/// The slot is the current thread's; `old` is null or points to an `itimerspec`.
pub(super) unsafe fn set(
    slot: *mut ThreadSlot,
    number: usize,
    (value, interval): (u64, u64),
    old: usize,
    pc: usize,
) {
    let real = &REAL[number % TIMERS];
    let now = sys::now(sys::MONOTONIC);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let sending = Sending::new(slot, channel(number), pc);
        let left = match real.deadline.load(Ordering::Relaxed) {
            0 => (0, 0),
            it => (it.saturating_sub(now).max(1), real.interval.load(Ordering::Relaxed)),
        };
        put(old, left, 1);
        real.interval.store(interval, Ordering::Relaxed);
        let deadline = if value == 0 { 0 } else { now.saturating_add(value) };
        real.deadline.store(deadline, Ordering::Relaxed);
        change(number);
        sending.done((value != 0).then_some(1), 0);
    }
}

fn change(number: usize) {
    let changes = &REAL[number % TIMERS].changes;
    changes.fetch_add(1, Ordering::Release);
    sys::futex_wake(changes.as_ptr());
}

/// The timer is deleted: its thread ends.
pub(super) fn end(number: usize) {
    debug_assert!(TABLE[number].kind.load(Ordering::Relaxed) == CALLS);
    REAL[number % TIMERS].deleted.store(1, Ordering::Relaxed);
    change(number);
    control::release(Kind::Sleep, object(number));
}
