//! The kernel's wait for a word of memory, which programs and the C++ library call by `syscall`. In
//! a controlled run only the scheduler knows the waiting threads; the kernel's futex is not used.

use core::ffi::{c_int, c_long};

use norn_abi::Kind;

use super::{
    lock::{REALTIME, TIMED_OUT, at},
    sleep::length,
    tap,
};
use crate::{
    control::{self, NEVER},
    real, sys, thread,
};

const FUTEX: usize = 202;
const WAIT: usize = 0;
const WAKE: usize = 1;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
/// Mask of the operation, without the flags.
const OPERATION: usize = 0x7f;
const ON_REALTIME: usize = 256;

/// # Safety
/// Called by the stub of `syscall`, before the call continues.
unsafe extern "C" fn look(pc: usize, number: usize) -> usize {
    if number == FUTEX
        && control::is_on()
        && let Some(slot) = thread::recorded()
    {
        // SAFETY: the slot is the current thread's.
        unsafe { (*thread::own(slot)).syscall_pc = pc };
        return futex as *const () as usize;
    }
    real::syscall() as *const () as usize
}

tap! { syscall => look; }

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn futex(
    _: usize,
    word: usize,
    how: usize,
    value: u32,
    time: usize,
    other: usize,
    more: usize,
) -> c_long {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match how & OPERATION {
            WAIT => wait(word, value, after(time)),
            WAIT_BITSET => {
                let clock = if how & ON_REALTIME != 0 { REALTIME } else { sys::MONOTONIC };
                wait(word, value, if time == 0 { NEVER } else { at(clock, time) })
            }
            WAKE | WAKE_BITSET => {
                let mut woken = 0;
                while woken < i64::from(value.min(i32::MAX as u32))
                    && control::release_one(Kind::Futex, word)
                {
                    woken += 1;
                }
                woken
            }
            _ => control::outside(|| {
                let args = [word, how, value as usize, time, other, more];
                result(sys::call(FUTEX, args) as c_long)
            }),
        }
    }
}

/// The deadline of a wait with a relative timeout.
///
/// # Safety
/// `time` is null or points to a `timespec`.
unsafe fn after(time: usize) -> u64 {
    // SAFETY: null or the caller's `timespec`.
    if time == 0 { NEVER } else { control::time::now().saturating_add(unsafe { length(time) }) }
}

/// # Safety
/// `word` points to a futex, and the current thread has a slot.
unsafe fn wait(word: usize, value: u32, deadline: u64) -> c_long {
    const EAGAIN: c_long = 11;
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let Some(slot) = thread::recorded() else { return 0 };
        if (word as *const u32).read_volatile() != value {
            return result(-EAGAIN);
        }
        let pc = (*thread::own(slot)).syscall_pc;
        match control::block(slot, Kind::Futex, word, pc, deadline) {
            true => result(-c_long::from(TIMED_OUT)),
            false => 0,
        }
    }
}

/// Converts a kernel result to the result of libc's `syscall`, which sets `errno`.
///
/// # Safety
/// Called on a thread that libc created, which has an `errno`.
unsafe fn result(of_kernel: c_long) -> c_long {
    if of_kernel < 0 {
        // SAFETY: the address is always valid on a thread of libc.
        unsafe { *real::__errno_location() = -of_kernel as c_int };
        return -1;
    }
    of_kernel
}
