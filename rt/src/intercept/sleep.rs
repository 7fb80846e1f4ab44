//! Sleeping and yielding.

use core::ffi::c_int;

use norn_abi::Kind;

use super::interpose;
use crate::{
    control::{self, Interruption},
    event, real, sys, thread,
};

/// Records that the thread sleeps. In a controlled run it sleeps here, in virtual time only; the
/// result is then the time that was left when a signal interrupted it.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn sleeping(nanoseconds: u64, pc: usize) -> Option<u64> {
    let slot = thread::recorded()?;
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::put(slot, Kind::Sleep, pc, nanoseconds as usize, &[]);
        if !control::is_on() {
            return None;
        }
        let until = control::time::now().saturating_add(nanoseconds.max(1));
        control::block(slot, Kind::Sleep, 0, pc, until);
        control::test_cancel(slot);
        let left = until.saturating_sub(control::time::now());
        Some(if control::take_interrupted(slot) == Interruption::No { 0 } else { left })
    }
}

/// The result of a function that has slept: 0, or `failed` if a signal interrupted it. The
/// remaining time is stored in a `timespec`.
///
/// # Safety
/// `rest` is null or points to a `timespec`.
unsafe fn slept(left: u64, rest: usize, failed: c_int) -> c_int {
    if left == 0 {
        return 0;
    }
    if rest != 0 {
        // SAFETY: the `timespec` is guaranteed by the caller.
        unsafe { *(rest as *mut [u64; 2]) = [left / SECOND, left % SECOND] };
    }
    if failed == -1 {
        // SAFETY: the address is always valid on a thread of libc.
        unsafe { *real::__errno_location() = EINTR };
    }
    failed
}

/// Makes a call that sleeps, and in which the thread may be cancelled.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn interruptible<T>(call: impl FnOnce() -> T) -> T {
    match thread::recorded() {
        // SAFETY: the slot is the current thread's.
        Some(slot) => unsafe { event::cancellable(slot, call) },
        None => call(),
    }
}

const SECOND: u64 = 1_000_000_000;
const EINTR: c_int = 4;

/// The length of a `timespec` in nanoseconds.
///
/// # Safety
/// `time` points to a `timespec`.
pub unsafe fn length(time: usize) -> u64 {
    if time == 0 {
        return 0;
    }
    // SAFETY: the `timespec` is guaranteed by the caller.
    let [seconds, nanoseconds] = unsafe { (time as *const [u64; 2]).read() };
    seconds.wrapping_mul(SECOND).wrapping_add(nanoseconds)
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sleep(seconds: u32, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(left) = sleeping(u64::from(seconds) * SECOND, pc) {
            return left.div_ceil(SECOND) as u32;
        }
        interruptible(|| real::sleep()(seconds))
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn usleep(microseconds: u32, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(left) = sleeping(u64::from(microseconds) * 1000, pc) {
            return slept(left, 0, -1);
        }
        interruptible(|| real::usleep()(microseconds))
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn nanosleep(time: usize, rest: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(left) = sleeping(length(time), pc) {
            return slept(left, rest, -1);
        }
        interruptible(|| real::nanosleep()(time, rest))
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: usize,
    rest: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        const ABSOLUTE: c_int = 1;
        let until = length(time);
        let absolute = flags & ABSOLUTE != 0;
        let now = if control::is_on() { control::time::read(clock) } else { sys::now(clock) };
        let length = if absolute { until.saturating_sub(now) } else { until };
        if let Some(left) = sleeping(length, pc) {
            return slept(left, if absolute { 0 } else { rest }, EINTR);
        }
        interruptible(|| real::clock_nanosleep()(clock, flags, time, rest))
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn thrd_sleep(time: usize, rest: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(left) = sleeping(length(time), pc) {
            return slept(left, rest, -1);
        }
        real::thrd_sleep()(time, rest)
    }
}

/// Records that the thread yields. Returns whether the scheduler has handled it: in a controlled
/// run no real yield is needed.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn yielding(pc: usize) -> bool {
    let Some(slot) = thread::recorded() else { return false };
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::put(slot, Kind::Yield, pc, 0, &[]);
        control::yields(slot, pc)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sched_yield(pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if yielding(pc) {
            return 0;
        }
        real::sched_yield()()
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn thrd_yield(pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !yielding(pc) {
            real::thrd_yield()();
        }
    }
}

interpose! {
    sleep(1) => sleep;
    usleep(1) => usleep;
    nanosleep(2) => nanosleep;
    clock_nanosleep(4) => clock_nanosleep;
    thrd_sleep(2) => thrd_sleep;
    sched_yield(0) => sched_yield;
    pthread_yield(0) => sched_yield;
    thrd_yield(0) => thrd_yield;
}
