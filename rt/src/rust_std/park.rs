//! `thread::park` and `Thread::unpark`.
//!
//! Threads park in compiled code of `std`, by futex calls that the runtime sees only if the thread has to
//! wait; such a call is no event. The token that an `unpark` gives is an item that the next `park` receives, so that
//! schedules know who wakes whom. A thread finds its own word, which names the channel, by its handle.

use core::{
    arch::asm,
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{Kind, receipt, rust_std::Role};

use super::{
    futex,
    redirect::{entries, original},
};
use crate::{
    channel::{self, Sending},
    control, event, thread,
};

const NOTIFIED: u32 = 1;
const PARKED: u32 = u32::MAX;
/// The error of a wait that timed out.
const TIMED_OUT: usize = 110;
/// The handle points behind the two counters of an `Arc`, from which the offset of the word counts.
const COUNTERS: usize = 16;

/// Calls a function of `std` in which the thread may wait, on behalf of the call at `pc`.
///
/// # Safety
/// As for `f`.
pub unsafe fn inside<T>(pc: usize, f: impl FnOnce() -> T) -> T {
    let Some(slot) = thread::recorded() else { return f() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        let own = thread::own(slot);
        let outer = core::mem::replace(&mut (*own).std_pc, pc);
        let result = f();
        (*own).std_pc = outer;
        result
    }
}

/// The word that the current thread parks on, if the thread has a handle by now.
///
/// # Safety
/// The program contains `std`.
unsafe fn own_word() -> Option<usize> {
    let (handle, parker) = (original(Role::CurrentThread), original(Role::Parker));
    if handle == 0 || parker == 0 {
        return None;
    }
    let pointer: usize;
    // SAFETY: the recorder found the thread-local variable there.
    unsafe {
        asm!("mov {}, qword ptr fs:[{}]", out(reg) pointer, in(reg) handle, options(nostack, readonly));
    }
    // Small numbers mean that there is no handle.
    (pointer > COUNTERS).then(|| pointer - COUNTERS + parker)
}

/// Asks the scheduler before the thread parks, and records that it has got the token of the last
/// `unpark`, or that the time has run out. It is an event in any case: whether the thread finds its token at once
/// depends on the schedule.
///
/// # Safety
/// The current thread is not in the middle of recording another event, and `park` parks it.
unsafe fn receiving(kind: Kind, pc: usize, park: impl FnOnce()) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let channel = || own_word().map_or(0, channel::of_futex);
        if let Some(slot) = thread::recorded() {
            channel::before(slot, Kind::Receive, pc, channel());
            (*thread::own(slot)).std_late = false;
        }
        inside(pc, park);
        if let Some(slot) = thread::recorded() {
            match (*thread::own(slot)).std_late {
                true => event::note(slot, Kind::NotReady, pc, TIMED_OUT, &[]),
                false => event::note(slot, kind, pc, channel() as usize, &[1, receipt::LATEST]),
            }
        }
    }
}

/// # Safety
/// As for `thread::park`.
unsafe extern "C-unwind" fn do_park(pc: usize) {
    type Park = unsafe extern "C-unwind" fn();
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let real = core::mem::transmute::<usize, Park>(original(Role::Park));
        receiving(Kind::Receive, pc, || real());
    }
}

/// # Safety
/// As for `thread::park_timeout`.
unsafe extern "C-unwind" fn do_park_timeout(seconds: u64, nanoseconds: u32, pc: usize) {
    type Park = unsafe extern "C-unwind" fn(u64, u32);
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let real = core::mem::transmute::<usize, Park>(original(Role::ParkTimeout));
        receiving(Kind::TimedReceive, pc, || real(seconds, nanoseconds));
    }
}

/// Channels park in this way.
///
/// # Safety
/// As for `Thread::park` of `std`.
unsafe extern "C-unwind" fn do_thread_park(handle: usize, pc: usize) {
    type Park = unsafe extern "C-unwind" fn(usize);
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let real = core::mem::transmute::<usize, Park>(original(Role::ThreadPark));
        receiving(Kind::Receive, pc, || real(handle));
    }
}

/// Channels wait with a time limit in this way.
///
/// # Safety
/// As for `Thread::park_timeout` of `std`.
unsafe extern "C-unwind" fn do_thread_park_timeout(
    handle: usize,
    seconds: u64,
    nanoseconds: u32,
    pc: usize,
) {
    type Park = unsafe extern "C-unwind" fn(usize, u64, u32);
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let real = core::mem::transmute::<usize, Park>(original(Role::ThreadParkTimeout));
        receiving(Kind::TimedReceive, pc, || real(handle, seconds, nanoseconds));
    }
}

/// In place of an exchange. It returns that the thread was not parked, since it has been woken.
///
/// # Safety
/// `word` is the word that a thread parks on.
unsafe extern "C" fn do_unpark(word: &AtomicU32, _: u32, _: c_int, pc: usize) -> u32 {
    let at = word.as_ptr() as usize;
    // SAFETY: the slot is the current thread's.
    unsafe {
        let token = |slot| Sending::new(slot, channel::of_futex(at), pc);
        let sending = thread::recorded().map(token);
        if word.swap(NOTIFIED, Ordering::Release) == PARKED {
            control::release(Kind::Futex, at);
            futex::wake(word, 1);
        }
        if let Some(sending) = sending {
            sending.done(Some(1), 0);
        }
    }
    NOTIFIED
}

/// # Safety
/// As for `Parker::unpark` of `std`.
unsafe extern "C" fn do_unpark_call(word: &AtomicU32, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { do_unpark(word, NOTIFIED, 0, pc) };
}

/// Whether the thread is in a function of `std` that another entry of the runtime has called: what it
/// calls there is no event of its own.
pub fn is_inside() -> bool {
    // SAFETY: the slot is the current thread's.
    thread::recorded().is_some_and(|slot| unsafe { (*thread::own(slot)).std_pc != 0 })
}

entries! {
    park(0) => do_park;
    park_timeout(2) => do_park_timeout;
    thread_park(1) => do_thread_park;
    thread_park_timeout(3) => do_thread_park_timeout;
    unpark(3) => do_unpark;
    unpark_call(1) => do_unpark_call;
}
