//! Threads: creation, end and join. It includes the threads of C11, which libc does not create
//! through an interposable `pthread_create`.

use core::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{
    Kind,
    arena::{ThreadSlot, role},
};

use super::{
    interpose,
    lock::{NOW, REALTIME, TIMED_OUT, at},
    process,
};
use crate::{
    arena,
    channel::{Sending, signal::of_cancel},
    collect,
    control::{self, NEVER},
    event, handle, number, real, signal, sys, thread, tls,
};

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type StartC11 = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// The number of threads of this process that were created and not joined. Those that have ended count, too: whether
/// one has ended depends on the schedule.
static UNJOINED: AtomicU32 = AtomicU32::new(0);

/// Whether there are no threads that may outlive the one that ends the program.
pub fn are_all_joined() -> bool {
    UNJOINED.load(Ordering::Relaxed) == 0
}

/// In a forked child: no other thread exists.
pub fn forget() {
    UNJOINED.store(0, Ordering::Relaxed);
}

/// Takes a slot for a new thread.
///
/// # Safety
/// The parent's slot is the current thread's and not a placeholder.
unsafe fn prepare(
    parent: *mut ThreadSlot,
    start: usize,
    argument: usize,
) -> Option<*mut ThreadSlot> {
    // SAFETY: the parent's slot is the current thread's; the other one is new.
    unsafe {
        let slot = arena::take_slot()?;
        let number = arena::process().threads.fetch_add(1, Ordering::Relaxed);
        (*thread::own(parent)).children += 1;
        let child = (*thread::own(parent)).children;
        thread::name(slot, number, (*parent).head.thread, child, role::THREAD);
        (*thread::own(slot)).start = start;
        (*thread::own(slot)).argument = argument;
        (*thread::own(slot)).mask = (*thread::own(parent)).mask;
        Some(slot)
    }
}

/// The start function of a thread without a slot. It lives on the creator's stack until the thread
/// has read it.
struct Unslotted {
    start: usize,
    argument: usize,
    read: AtomicU32,
}

/// Tag that is added to the address of an [`Unslotted`], to distinguish it from a slot.
const UNSLOTTED: usize = 1;

/// Creates a thread that is not recorded. The thread must know that; otherwise the first hook would
/// treat it as a thread that was created outside of the runtime, and record it only partly.
///
/// # Safety
/// `real` creates a thread with the argument that it is given, and stores its handle at `handle`.
unsafe fn create_unslotted(
    handle: usize,
    start: usize,
    argument: usize,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    let given = Unslotted { start, argument, read: AtomicU32::new(0) };
    let result = real(&raw const given as usize + UNSLOTTED);
    if result != 0 {
        arena::return_no_slot();
        return result;
    }
    // SAFETY: the thread was created, so the handle is stored.
    handle::forget(unsafe { *(handle as *const usize) });
    while given.read.load(Ordering::Acquire) == 0 {
        arena::awaiting(|| sys::futex_wait(given.read.as_ptr(), 0, u64::MAX));
    }
    result
}

/// Runs first in a new thread without a slot.
///
/// # Safety
/// Called first in a new thread, with the argument from its creator.
unsafe fn begin_unslotted(given: *const Unslotted) -> (usize, *mut c_void) {
    tls::set(tls::BUSY.slot());
    // SAFETY: the creator waits until the structure is read. Afterwards only its address is used,
    // by the kernel's futex call, which does not depend on the content there.
    unsafe {
        let (start, argument) = ((*given).start, (*given).argument as *mut c_void);
        let read = (&raw const (*given).read).cast::<u32>();
        (*given).read.store(1, Ordering::Release);
        sys::futex_wake(read);
        (start, argument)
    }
}

/// Runs in a new thread before any code of the program.
///
/// # Safety
/// Called first in a new thread, with the argument from its creator.
unsafe fn begin(given: *mut c_void) -> (usize, *mut c_void) {
    if given as usize & UNSLOTTED != 0 {
        // SAFETY: the tag marks the address of an `Unslotted`.
        return unsafe { begin_unslotted((given as usize - UNSLOTTED) as *const Unslotted) };
    }
    let slot = given.cast::<ThreadSlot>();
    // SAFETY: the creator passed the slot.
    unsafe {
        tls::set(tls::BUSY.slot());
        control::first_turn(slot);
        handle::remember(real::pthread_self(), (*slot).head.thread);
        let own = thread::own(slot);
        let (start, argument) = ((*own).start, (*own).argument as *mut c_void);
        thread::attach(slot, thread::own_stack());
        signal::begin(slot, (*own).mask);
        (start, argument)
    }
}

/// # Safety
/// Called first in a new thread, with the argument from its creator.
unsafe extern "C-unwind" fn run(slot: *mut c_void) -> *mut c_void {
    // SAFETY: as in `begin`; the start function is the program's.
    unsafe {
        let (start, argument) = begin(slot);
        core::mem::transmute::<usize, Start>(start)(argument)
    }
}

/// # Safety
/// Called first in a new thread, with the argument from its creator.
unsafe extern "C-unwind" fn run_c11(slot: *mut c_void) -> c_int {
    // SAFETY: as in `run`.
    unsafe {
        let (start, argument) = begin(slot);
        core::mem::transmute::<usize, StartC11>(start)(argument)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub unsafe extern "C-unwind" fn create(
    handle: usize,
    with: usize,
    start: usize,
    argument: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        created(handle, start, argument, pc, run as *const () as usize, |start, argument| {
            real::pthread_create()(handle, with, start, argument)
        })
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn create_c11(
    handle: usize,
    start: usize,
    argument: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        created(handle, start, argument, pc, run_c11 as *const () as usize, |start, argument| {
            real::thrd_create()(handle, start, argument)
        })
    }
}

/// Creates a thread, and records it. `run` is the function that begins a new thread with its slot.
///
/// # Safety
/// `real` creates a thread with the start function and argument that it is given.
unsafe fn created(
    handle: usize,
    start: usize,
    argument: usize,
    pc: usize,
    run: usize,
    real: impl FnOnce(usize, usize) -> c_int,
) -> c_int {
    // SAFETY: guaranteed by the caller. A thread without a slot runs unrecorded, and is counted.
    // The event is recorded only when the thread exists, but its sequence number is taken before,
    // because the child may begin at once.
    unsafe {
        let Some(parent) = thread::recorded() else { return real(start, argument) };
        control::before(parent, Kind::Fork, pc, 0);
        process::watch_exit(parent);
        let Some(slot) = prepare(parent, start, argument) else {
            let real = |given| thread::quietly(parent, || real(run, given));
            return create_unslotted(handle, start, argument, real);
        };
        control::adopt(slot, parent);
        let number = (*slot).head.thread;
        collect::fork(parent, number);
        arena::make_room(parent);
        let seq = number::next(parent);
        let result = thread::quietly(parent, || real(run, slot as usize));
        if result == 0 {
            handle::remember(*(handle as *const usize), number);
            event::note_at(parent, Kind::Fork, pc, number as usize, seq, &[]);
            UNJOINED.fetch_add(1, Ordering::Relaxed);
        } else {
            (*thread::own(parent)).children -= 1;
            control::disown(slot);
            arena::return_slot(slot);
        }
        result
    }
}

/// Waits for a thread to end in a controlled run. Returns false if the wait timed out.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn await_end(slot: *mut ThreadSlot, number: u32, pc: usize, deadline: u64) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe {
        control::before(slot, Kind::Join, pc, number as usize);
        while control::is_on() && deadline != NOW && control::is_alive(number) {
            if control::block(slot, Kind::Join, number as usize, pc, deadline) {
                return false;
            }
            control::test_cancel(slot);
        }
    }
    true
}

/// Defines a function that waits for a thread to end.
macro_rules! join {
    ($($name:ident($($arg:ident),*) = $real:ident, $deadline:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(handle: usize, $($arg: usize,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some(slot) = thread::recorded() else { return real::$real()(handle, $($arg),*) };
                let number = handle::number_of(handle);
                if let Some(number) = number && !await_end(slot, number, pc, $deadline) {
                    return TIMED_OUT;
                }
                event::block(slot, Kind::Join, number.unwrap_or(u32::MAX) as usize, pc);
                let result = thread::quietly(slot, || real::$real()(handle, $($arg),*));
                event::unblock(slot);
                if let (0, Some(number)) = (result, number) {
                    event::note(slot, Kind::Join, pc, number as usize, &[]);
                    UNJOINED.fetch_sub(1, Ordering::Relaxed);
                }
                result
            }
        }
    )* };
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn cancel(handle: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (slot, number) = (thread::recorded(), handle::number_of(handle));
        let (Some(slot), Some(number)) = (slot, number) else {
            return real::pthread_cancel()(handle);
        };
        event::put(slot, Kind::Cancel, pc, number as usize, &[]);
        let sending = Sending::new(slot, of_cancel(number), pc);
        // The first call loads a library, whose events must not come between the two.
        let result = thread::quietly(slot, || real::pthread_cancel()(handle));
        sending.done((result == 0).then_some(1), 0);
        control::cancel(number);
        result
    }
}

/// In a controlled run a thread is cancelled where it waits for its turn, never in the middle of the
/// runtime: libc is not told that the thread may be cancelled anywhere.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn set_cancel_type(kind: c_int, old: usize, _pc: usize) -> c_int {
    const ASYNCHRONOUS: c_int = 1;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded().filter(|_| control::is_on()) else {
            return real::pthread_setcanceltype()(kind, old);
        };
        let own = thread::own(slot);
        if old != 0 {
            *(old as *mut c_int) = c_int::from((*own).asynchronous);
        }
        (*own).asynchronous = kind == ASYNCHRONOUS;
        control::test_asynchronous(slot);
        0
    }
}

/// Defines a function that records an event about another thread.
macro_rules! about {
    ($($name:ident = $real:ident, $kind:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(handle: usize, pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let number = handle::number_of(handle);
                if let (Some(slot), Some(number)) = (thread::recorded(), number) {
                    event::put(slot, $kind, pc, number as usize, &[]);
                }
                real::$real()(handle)
            }
        }
    )* };
}

join! {
    wait(out) = pthread_join, NEVER;
    try_wait(out) = pthread_tryjoin_np, NOW;
    timed_wait(out, until) = pthread_timedjoin_np, at(REALTIME, until);
    wait_c11(out) = thrd_join, NEVER;
}
about! {
    detach = pthread_detach, Kind::Detach;
    detach_c11 = thrd_detach, Kind::Detach;
}

interpose! {
    pthread_create(4) => create;
    pthread_join(2) => wait;
    pthread_tryjoin_np(2) => try_wait;
    pthread_timedjoin_np(3) => timed_wait;
    pthread_detach(1) => detach;
    pthread_cancel(1) => cancel;
    pthread_setcanceltype(2) => set_cancel_type;
    thrd_create(3) => create_c11;
    thrd_join(2) => wait_c11;
    thrd_detach(1) => detach_c11;
}
