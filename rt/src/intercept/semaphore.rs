//! Semaphores.

use core::ffi::c_int;

use norn_abi::{Kind, ObjectClass, arena::ThreadSlot, libc_layout::semaphore as layout};

use super::{
    cond::announce,
    interpose,
    lock::{NOW, REALTIME, TIMED_OUT, at, destroy, init},
};
use crate::{
    control::{self, Interruption, NEVER},
    event, real, thread,
};

/// Defines a function that decrements a semaphore: the real function, the event of a success, and
/// the deadline.
macro_rules! decrement {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $kind:expr, $deadline:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(semaphore: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some(slot) = thread::recorded() else { return real::$real()(semaphore, $($arg),*) };
                control::before(slot, Kind::SemWait, pc, semaphore);
                control::destroyed::check(slot, semaphore, ObjectClass::Semaphore, pc);
                let result = if control::is_on() {
                    take(slot, semaphore, pc, $deadline)
                } else {
                    event::block(slot, Kind::SemWait, semaphore, pc);
                    let result = real::$real()(semaphore, $($arg),*);
                    event::unblock(slot);
                    result
                };
                if result == 0 {
                    event::note(slot, $kind, pc, semaphore, &[]);
                } else {
                    event::note(slot, Kind::SemFailed, pc, semaphore, &[real::errno()]);
                }
                result
            }
        }
    )* };
}

/// Decrements a semaphore as soon as that is possible, and waits in the scheduler until then.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `semaphore` points to a `sem_t`.
unsafe fn take(slot: *mut ThreadSlot, semaphore: usize, pc: usize, deadline: u64) -> c_int {
    const EAGAIN: u64 = 11;
    const EINTR: c_int = 4;
    // SAFETY: guaranteed by the caller.
    unsafe {
        loop {
            let result = real::sem_trywait()(semaphore);
            if result == 0 || real::errno() != EAGAIN || deadline == NOW {
                return result;
            }
            let late = match is_shared(semaphore) {
                true => control::block_outside(slot, pc, deadline),
                false => control::block(slot, Kind::SemWait, semaphore, pc, deadline),
            };
            if late {
                *real::__errno_location() = TIMED_OUT;
                return -1;
            }
            control::test_cancel(slot);
            if control::take_interrupted(slot) == Interruption::Fails {
                *real::__errno_location() = EINTR;
                return -1;
            }
        }
    }
}

/// A semaphore that is shared with other processes has no initialisation in the trace, like a named one: what
/// it began with, and the posts that the trace has, do not say how often it can be taken.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn create(object: usize, shared: c_int, value: u32, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if shared == 0 {
            return create_own(object, shared, value, pc);
        }
        let result = real::sem_init()(object, shared, value);
        control::destroyed::unpoison(object, ObjectClass::Semaphore);
        control::misuse::initialised(object);
        result
    }
}

/// Whether other processes may post a semaphore.
///
/// # Safety
/// `object` points to a `sem_t`.
unsafe fn is_shared(object: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe { *(object as *const u32).add(layout::SHARED) != 0 }
}

/// Lets the threads that wait for the semaphore try again.
fn notify(semaphore: usize) {
    control::release(Kind::SemWait, semaphore);
    // Waits for a shared semaphore are for something outside.
    control::look_again();
}

decrement! {
    wait() = sem_wait, Kind::SemWait, NEVER;
    trywait() = sem_trywait, Kind::SemWait, NOW;
    timedwait(until: usize) = sem_timedwait, Kind::TimedSemWait, at(REALTIME, until);
    clockwait(clock: c_int, until: usize)
        = sem_clockwait, Kind::TimedSemWait, at(clock, until);
}
announce! { post = sem_post, Kind::SemPost, ObjectClass::Semaphore, notify; }
init! { create_own(shared: c_int, value: u32) = sem_init, ObjectClass::Semaphore, value; }
destroy! { remove = sem_destroy, ObjectClass::Semaphore; }

interpose! {
    sem_init(3) => create;
    sem_destroy(1) => remove;
    sem_wait(1) => wait;
    sem_trywait(1) => trywait;
    sem_timedwait(2) => timedwait;
    sem_clockwait(3) => clockwait;
    sem_post(1) => post;
}
