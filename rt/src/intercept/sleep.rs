//! Sleeping and yielding.

use core::ffi::c_int;

use norn_abi::Kind;

use super::interpose;
use crate::{control, real, sys, thread};

/// Records that the thread sleeps. While we decide which thread goes next, that is here and now,
/// and takes no time but the program's own. True if it has slept.
unsafe fn sleeping(nanoseconds: u64, pc: usize) -> bool {
    let Some(slot) = thread::recorded() else { return false };
    // SAFETY: the slot is the current thread's.
    unsafe {
        thread::event(slot, Kind::Sleep, pc, nanoseconds as usize, &[]);
        if !control::is_on() {
            return false;
        }
        let until = control::time::now().saturating_add(nanoseconds.max(1));
        control::block(slot, Kind::Sleep, 0, pc, until);
        control::test_cancel(slot);
    }
    true
}

/// The length of a `timespec` in nanoseconds.
pub unsafe fn length(time: usize) -> u64 {
    if time == 0 {
        return 0;
    }
    // SAFETY: the caller's `timespec`.
    let [seconds, nanoseconds] = unsafe { (time as *const [u64; 2]).read() };
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

unsafe extern "C-unwind" fn sleep(seconds: u32, pc: usize) -> u32 {
    // SAFETY: as the caller called it.
    unsafe {
        if sleeping(u64::from(seconds) * 1_000_000_000, pc) {
            return 0;
        }
        real::sleep()(seconds)
    }
}

unsafe extern "C-unwind" fn usleep(microseconds: u32, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        if sleeping(u64::from(microseconds) * 1000, pc) {
            return 0;
        }
        real::usleep()(microseconds)
    }
}

unsafe extern "C-unwind" fn nanosleep(time: usize, rest: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        if sleeping(length(time), pc) {
            return 0;
        }
        real::nanosleep()(time, rest)
    }
}

unsafe extern "C-unwind" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: usize,
    rest: usize,
    pc: usize,
) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        const ABSOLUTE: c_int = 1;
        let until = length(time);
        let absolute = flags & ABSOLUTE != 0;
        let now = if control::is_on() { control::time::read(clock) } else { sys::now(clock) };
        if sleeping(if absolute { until.saturating_sub(now) } else { until }, pc) {
            return 0;
        }
        real::clock_nanosleep()(clock, flags, time, rest)
    }
}

unsafe extern "C-unwind" fn thrd_sleep(time: usize, rest: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        if sleeping(length(time), pc) {
            return 0;
        }
        real::thrd_sleep()(time, rest)
    }
}

unsafe fn yielding(pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            thread::event(slot, Kind::Yield, pc, 0, &[]);
            control::yields(slot);
        }
    }
}

unsafe extern "C-unwind" fn sched_yield(pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        yielding(pc);
        real::sched_yield()()
    }
}

unsafe extern "C-unwind" fn thrd_yield(pc: usize) {
    // SAFETY: as the caller called it.
    unsafe {
        yielding(pc);
        real::thrd_yield()();
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
