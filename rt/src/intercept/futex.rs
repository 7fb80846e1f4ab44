//! The kernel's wait for a word of memory, which programs and the C++ library call by `syscall`. In
//! a controlled run only the scheduler knows the waiting threads; the kernel's futex is not used. A thread
//! that is woken continues after the call that woke it.

use core::ffi::{c_int, c_long};

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    identity,
    io::call_time,
    kill,
    lock::{REALTIME, TIMED_OUT, at},
    sleep::length,
    tap,
};
use crate::{
    channel::{self, Sending},
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
        && let Some(slot) = thread::recorded()
    {
        // SAFETY: the slot is the current thread's.
        unsafe { (*thread::own(slot)).call_pc = pc };
        return futex as *const () as usize;
    }
    if matches!(number, kill::KILL | kill::TKILL | kill::TGKILL)
        && let Some(slot) = thread::recorded()
    {
        // SAFETY: the slot is the current thread's.
        unsafe { (*thread::own(slot)).call_pc = pc };
        return kill::system_call as *const () as usize;
    }
    if let Some(function) = identity::replacement(number) {
        return function;
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
        let real =
            || result(sys::call(FUTEX, [word, how, value as usize, time, other, more]) as c_long);
        let Some(slot) = thread::recorded() else { return real() };
        let own = thread::own(slot);
        // In a call of Rust's standard library, that call is the event.
        let silent = (*own).std_pc != 0;
        if silent {
            (*own).call_pc = (*own).std_pc;
        }
        let pc = (*own).call_pc;
        let since = call_time();
        match how & OPERATION {
            WAIT => waiting(slot, (word, silent), pc, || match control::is_on() {
                true => wait(slot, word, value, after(since, time)),
                false => real(),
            }),
            WAIT_BITSET => waiting(slot, (word, silent), pc, || {
                let clock = if how & ON_REALTIME != 0 { REALTIME } else { sys::MONOTONIC };
                match control::is_on() {
                    true => {
                        wait(slot, word, value, if time == 0 { NEVER } else { at(clock, time) })
                    }
                    false => real(),
                }
            }),
            WAKE | WAKE_BITSET if silent => {
                if control::is_on() {
                    wake(word, value)
                } else {
                    real()
                }
            }
            WAKE | WAKE_BITSET => {
                let sending = Sending::new(slot, channel::of_futex(word), pc);
                let woken = if control::is_on() { wake(word, value) } else { real() };
                sending.done(u64::try_from(woken).ok().filter(|it| *it > 0), 0);
                woken
            }
            _ => control::outside(real),
        }
    }
}

/// Waits by `call`, and records whether the thread was woken, unless the wait is `silent`.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn waiting(
    slot: *mut ThreadSlot,
    (word, silent): (usize, bool),
    pc: usize,
    call: impl FnOnce() -> c_long,
) -> c_long {
    if silent {
        return call();
    }
    let channel = channel::of_futex(word);
    // SAFETY: guaranteed by the caller.
    unsafe {
        channel::before(slot, Kind::Receive, pc, channel);
        let result = call();
        channel::note_one(slot, (result == 0).then_some(channel), pc, real::errno());
        result
    }
}

/// Wakes up to `most` threads that wait in the scheduler; returns how many.
fn wake(word: usize, most: u32) -> c_long {
    let mut woken = 0;
    while woken < i64::from(most.min(i32::MAX as u32)) && control::release_one(Kind::Futex, word) {
        woken += 1;
    }
    woken
}

/// The deadline of a wait that began at `since`, with a relative timeout.
///
/// # Safety
/// `time` is null or points to a `timespec`.
unsafe fn after(since: u64, time: usize) -> u64 {
    // SAFETY: null or the caller's `timespec`.
    if time == 0 { NEVER } else { since.saturating_add(unsafe { length(time) }) }
}

/// # Safety
/// `word` points to a futex, and the slot is the current thread's.
unsafe fn wait(slot: *mut ThreadSlot, word: usize, value: u32, deadline: u64) -> c_long {
    const EAGAIN: c_long = 11;
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        if (word as *const u32).read_volatile() != value {
            return result(-EAGAIN);
        }
        let pc = (*thread::own(slot)).call_pc;
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
pub(super) unsafe fn result(of_kernel: c_long) -> c_long {
    if of_kernel < 0 {
        // SAFETY: the address is always valid on a thread of libc.
        unsafe { *real::__errno_location() = -of_kernel as c_int };
        return -1;
    }
    of_kernel
}
