//! Reading the time. In a controlled run the clocks are virtual.

use core::ffi::c_int;

use super::{interpose, seed};
use crate::{control, real, sys};

const REALTIME: c_int = 0;
const SECOND: u64 = 1_000_000_000;

/// # Safety
/// `time` points to a `timespec` or `timeval`, as `unit` determines.
unsafe fn put(time: usize, nanoseconds: u64, unit: u64) {
    if time != 0 {
        // SAFETY: the caller guarantees that it is a `timespec` or `timeval`.
        unsafe { *(time as *mut [u64; 2]) = [nanoseconds / SECOND, nanoseconds % SECOND / unit] };
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn clock_gettime(clock: c_int, time: usize, _pc: usize) -> c_int {
    if !control::is_on() {
        // SAFETY: guaranteed by the caller.
        return unsafe { real::clock_gettime()(clock, time) };
    }
    let now = control::time::read(clock);
    seed::note_time(now / SECOND);
    // SAFETY: guaranteed by the caller.
    unsafe { put(time, now, 1) };
    0
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timespec_get(time: usize, base: c_int, _pc: usize) -> c_int {
    const UTC: c_int = 1;
    if !control::is_on() || base != UTC {
        // SAFETY: guaranteed by the caller.
        return unsafe { real::timespec_get()(time, base) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { put(time, control::time::read(REALTIME), 1) };
    base
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn gettimeofday(time: usize, zone: usize, _pc: usize) -> c_int {
    if !control::is_on() {
        // SAFETY: guaranteed by the caller.
        return unsafe { real::gettimeofday()(time, zone) };
    }
    let now = control::time::read(REALTIME);
    seed::note_time(now / SECOND);
    // SAFETY: guaranteed by the caller.
    unsafe { put(time, now, 1000) };
    0
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn time(out: usize, _pc: usize) -> i64 {
    if !control::is_on() {
        // SAFETY: guaranteed by the caller.
        return unsafe { real::time()(out) };
    }
    let now = (control::time::read(REALTIME) / SECOND) as i64;
    seed::note_time(now as u64);
    if out != 0 {
        // SAFETY: guaranteed by the caller.
        unsafe { *(out as *mut i64) = now };
    }
    now
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn clock(_pc: usize) -> i64 {
    if !control::is_on() {
        // SAFETY: guaranteed by the caller.
        return unsafe { real::clock()() };
    }
    (control::time::read(sys::MONOTONIC) / 1000) as i64
}

interpose! {
    clock_gettime(2) => clock_gettime;
    timespec_get(2) => timespec_get;
    gettimeofday(2) => gettimeofday;
    time(1) => time;
    clock(0) => clock;
}
