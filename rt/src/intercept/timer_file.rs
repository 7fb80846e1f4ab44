//! Timers that are files. In a controlled run they run on virtual time: when the scheduler lets one
//! expire, the kernel's timer is set to expire at once.

use core::{ffi::c_int, sync::atomic::Ordering};

use super::{
    interpose,
    io::{IN, controlled},
    timer::{FILE, TABLE, put, take, times},
};
use crate::{
    channel, control,
    control::{NEVER, Scheduler, TIMERS, TimerSetting},
    real, sys,
};

const REALTIME: c_int = 0;
/// Clocks that show less count from the start of the machine.
const YEAR_2001: u64 = 1_000_000_000_000_000_000;

/// The number of the timer of a file, which is made if there is none.
fn number_of(file: c_int) -> Option<usize> {
    let is = |it: &usize| {
        let timer = &TABLE[*it];
        let descriptor = timer.value.load(Ordering::Relaxed) as c_int;
        timer.kind.load(Ordering::Relaxed) == FILE && descriptor == file
    };
    (0..TIMERS).find(is).or_else(|| {
        let number = take(FILE)?;
        TABLE[number].value.store(file as usize, Ordering::Relaxed);
        Some(number)
    })
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timerfd_settime(
    file: c_int,
    flags: c_int,
    new: usize,
    old: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        channel::set_timer(file, pc);
        let off = [0u64; 4];
        let number = controlled().filter(|_| new != 0).and_then(|_| number_of(file));
        // The kernel checks the descriptor, and forgets earlier expiries.
        let given = if number.is_some() { &raw const off as usize } else { new };
        let result = real::timerfd_settime()(file, flags, given, old);
        if let Some(number) = number.filter(|_| result == 0) {
            let before = control::time::set_timer(number, setting(flags, new));
            put(old, rest(before), 1);
        }
        control::look_again();
        result
    }
}

/// # Safety
/// `new` points to an `itimerspec`.
unsafe fn setting(flags: c_int, new: usize) -> TimerSetting {
    const ABSOLUTE: c_int = 1;
    // SAFETY: guaranteed by the caller.
    let (value, interval) = unsafe { times(new, 1) };
    let clock = if value > YEAR_2001 { REALTIME } else { sys::MONOTONIC };
    let deadline = match value {
        0 => NEVER,
        _ if flags & ABSOLUTE != 0 => control::time::when(clock, value),
        _ => control::time::now().saturating_add(value),
    };
    TimerSetting { deadline, interval, file: true }
}

fn rest(setting: TimerSetting) -> (u64, u64) {
    if setting.deadline == NEVER {
        return (0, 0);
    }
    (setting.deadline.saturating_sub(control::time::now()).max(1), setting.interval)
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timerfd_gettime(file: c_int, out: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let result = real::timerfd_gettime()(file, out);
        if result == 0
            && controlled().is_some()
            && let Some(number) = number_of(file)
        {
            put(out, rest(control::time::timer(number)), 1);
        }
        result
    }
}

/// A timer has expired: its file becomes readable before any thread continues.
pub(super) fn expires(scheduler: &mut Scheduler, file: c_int) {
    const TIMERFD_SETTIME: usize = 286;
    const LOOKS: u32 = 10_000;
    let now = [0u64, 0, 0, 1];
    let now = &raw const now as usize;
    // SAFETY: the kernel reads the times. If the descriptor was closed, the call fails.
    let result = unsafe { sys::call(TIMERFD_SETTIME, [file as usize, 0, now, 0, 0, 0]) };
    for _ in 0..if result == 0 { LOOKS } else { 0 } {
        if sys::is_ready(file, IN) {
            break;
        }
        sys::yield_now();
    }
    scheduler.look_again();
}

interpose! {
    timerfd_settime(4) => timerfd_settime;
    timerfd_gettime(2) => timerfd_gettime;
}
