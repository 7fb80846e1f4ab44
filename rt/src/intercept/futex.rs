//! The kernel's wait for a word of memory, which programs and the C++ library call by `syscall`. In
//! a controlled run only the scheduler knows the waiting threads; the kernel's futex is not used. A thread
//! that is woken continues after the call that woke it. Words that other processes use, too, are left to the
//! kernel.

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
    real, rust_std, shared_memory, sys, thread,
};

const FUTEX: usize = 202;
const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const COMPARE_REQUEUE: usize = 4;
const WAKE_OPERATION: usize = 5;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
const EAGAIN: c_long = 11;
/// Mask of the operation, without the flags.
const OPERATION: usize = 0x7f;
const ON_REALTIME: usize = 256;
/// Flag: no other process uses the word.
const PRIVATE: usize = 128;
/// The bits of a wait that any wake-up ends, and of a wake-up that ends any wait.
const ANY: u32 = u32::MAX;

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
        let operation = how & OPERATION;
        let (other, most) =
            (Other { word: other, most: time as u32 }, Most { count: value, bits: more as u32 });
        let wakes = || match operation {
            _ if !control::is_on() => real(),
            WAKE_BITSET => wake(word, most) + unrecorded_waiters(how, real),
            WAKE => wake(word, Most { bits: ANY, ..most }) + unrecorded_waiters(how, real),
            COMPARE_REQUEUE if *(word as *const u32) != most.bits => result(-EAGAIN),
            WAKE_OPERATION => wake_operation(word, most, &other, real),
            // A thread that would go to the other word is woken instead: a wait may end early, and the
            // thread looks again.
            _ => wake(word, Most { count: value.saturating_add(other.most), bits: ANY }),
        };
        match operation {
            WAIT | WAIT_BITSET => waiting(slot, (word, silent), pc, || {
                let deadline = || match operation {
                    WAIT => after(since, time),
                    _ if time == 0 => NEVER,
                    _ => at(if how & ON_REALTIME != 0 { REALTIME } else { sys::MONOTONIC }, time),
                };
                match control::is_on() {
                    true if may_be_outside(word, how) => wait_outside(word, value, deadline()),
                    true => wait(slot, word, value, deadline()),
                    false => real(),
                }
            }),
            WAKE | WAKE_BITSET | REQUEUE | COMPARE_REQUEUE | WAKE_OPERATION if silent => wakes(),
            WAKE | WAKE_BITSET | REQUEUE | COMPARE_REQUEUE | WAKE_OPERATION => {
                let sending = Sending::new(slot, channel::of_futex(word), pc);
                let woken = wakes();
                sending.done(u64::try_from(woken).ok().filter(|it| *it > 0), 0);
                woken
            }
            _ => control::outside(real),
        }
    }
}

/// The threads that a call wakes: how many at most, and of which waits.
#[derive(Clone, Copy)]
struct Most {
    count: u32,
    bits: u32,
}

/// The second word of a call, and how many of the threads that wait for it are woken or added to them.
struct Other {
    word: usize,
    most: u32,
}

/// Whether another process may wake a thread that waits for a word.
fn may_be_outside(word: usize, how: usize) -> bool {
    how & PRIVATE == 0 && shared_memory::contains(word)
}

/// Wakes threads of other processes that wait for a word, by a call of the kernel; returns how many.
fn unrecorded_waiters(how: usize, real: impl FnOnce() -> c_long) -> c_long {
    if how & PRIVATE == 0 { real().max(0) } else { 0 }
}

/// `FUTEX_WAKE_OP`: the kernel changes the other word, and knows no threads that it could wake. Those that
/// wait for the other word are woken if its old value compares as the call requests.
///
/// # Safety
/// Both words are the caller's.
unsafe fn wake_operation(
    word: usize,
    most: Most,
    other: &Other,
    real: impl FnOnce() -> c_long,
) -> c_long {
    // SAFETY: guaranteed by the caller. Only this thread has the turn.
    let old = unsafe { (other.word as *const i32).read_volatile() };
    if real() < 0 {
        return -1;
    }
    let operand = (most.bits << 20) as i32 >> 20;
    let compares = match most.bits >> 24 & 15 {
        0 => old == operand,
        1 => old != operand,
        2 => old < operand,
        3 => old <= operand,
        4 => old > operand,
        _ => old >= operand,
    };
    let others = if compares { wake(other.word, Most { count: other.most, bits: ANY }) } else { 0 };
    wake(word, Most { bits: ANY, ..most }) + others
}

/// Waits in the kernel for a word that other processes may change, until a virtual deadline.
///
/// # Safety
/// `word` points to a futex.
unsafe fn wait_outside(word: usize, value: u32, deadline: u64) -> c_long {
    let left = deadline.saturating_sub(control::time::now());
    let left = [left / 1_000_000_000, left % 1_000_000_000];
    let limit = if deadline == NEVER { 0 } else { &raw const left as usize };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let call = || sys::call(FUTEX, [word, WAIT, value as usize, limit, 0, 0]);
        result(control::outside(call) as c_long)
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
        let result = call();
        // SAFETY: the slot is the current thread's, which has an `errno`.
        unsafe {
            let late = result != 0 && real::errno() == TIMED_OUT as u64;
            (*thread::own(slot)).std_late |= late;
        }
        return result;
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

/// Wakes threads that wait in the scheduler; returns how many. Which bits a thread waits with is not
/// known: if not all are requested, all threads are woken, since a wait may end early, but not late.
///
/// A release of one of Rust's locks that was not recognised ends here, too. The threads that wait for such a lock wait for the
/// lock itself, which is this word or, for writers, the one before it. They look again.
fn wake(word: usize, most: Most) -> c_long {
    if rust_std::is_used() {
        control::release(Kind::Acquire, word);
        control::release(Kind::Acquire, word.wrapping_sub(size_of::<u32>()));
    }
    let count = if most.bits == ANY { most.count } else { ANY };
    let mut woken = 0;
    while woken < i64::from(count.min(i32::MAX as u32)) && control::release_one(Kind::Futex, word) {
        woken += 1;
    }
    woken.min(most.count.into())
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
