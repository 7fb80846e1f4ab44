//! Condition variables. A wait consists of three events: the release of the mutex, the wait, and
//! the reacquisition of the mutex. The first two get their sequence numbers before the real wait
//! begins, the third after it.

use core::ffi::c_int;

use norn_abi::{Kind, LockClass, ObjectClass, arena::ThreadSlot, libc_layout::cond as layout};

use super::{
    interpose,
    lock::{REALTIME, TIMED_OUT, at, destroy, init, is_anothers, posix, take},
};
use crate::{
    control::{self, NEVER},
    event, real, sys, thread,
};

const EBUSY: c_int = 16;
const MUTEX: u64 = LockClass::Mutex as u64;

/// The clock by which a condition variable measures deadlines.
///
/// # Safety
/// `object` points to a `pthread_cond_t`.
unsafe fn clock_of(object: usize) -> c_int {
    // SAFETY: guaranteed by the caller. In a controlled run the layout was checked; otherwise the
    // result is not used.
    if unsafe { flags(object) } & layout::MONOTONIC != 0 { sys::MONOTONIC } else { REALTIME }
}

/// The flags of a condition variable.
///
/// # Safety
/// `object` points to a `pthread_cond_t`.
unsafe fn flags(object: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { *(object as *const u32).add(layout::FLAGS) }
}

/// Records that a wait begins.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn begin(slot: *mut ThreadSlot, kind: Kind, cond: usize, mutex: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::put(slot, Kind::WaitRelease, pc, mutex, &[]);
        event::put(slot, kind, pc, cond, &[mutex as u64]);
        event::block(slot, Kind::Wait, cond, pc);
        event::arm(slot, mutex);
    }
}

/// Records that a wait ends.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn end(slot: *mut ThreadSlot, cond: usize, mutex: usize, pc: usize, result: c_int) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::disarm(slot);
        event::unblock(slot);
        event::note(slot, Kind::WaitAcquire, pc, mutex, &[cond as u64, result as u64]);
    }
}

/// Waits in a controlled run. Only the scheduler knows the waiting threads; libc's condition
/// variable is not used. Returns the result of a POSIX function.
///
/// # Safety
/// The slot is the current thread's and not a placeholder; the rest is as for `pthread_cond_wait`.
pub unsafe fn wait_here(
    slot: *mut ThreadSlot,
    kind: Kind,
    (cond, mutex, pc): (usize, usize, usize),
    deadline: u64,
) -> c_int {
    const ECANCELED: c_int = 125;
    // SAFETY: guaranteed by the caller.
    unsafe {
        control::before(slot, Kind::WaitRelease, pc, mutex);
        control::destroyed::check(slot, cond, ObjectClass::Cond, pc);
        control::test_cancel(slot);
        if is_anothers(mutex, slot) {
            return real::pthread_mutex_unlock()(mutex);
        }
        control::misuse::gives(slot, Kind::Wait, MUTEX, mutex, pc);
        if flags(cond) & layout::SHARED != 0 {
            return wait_shared(slot, (cond, mutex, pc), deadline);
        }
        event::note(slot, Kind::WaitRelease, pc, mutex, &[]);
        event::note(slot, kind, pc, cond, &[mutex as u64]);
        let late = control::block_after(slot, (Kind::Wait, cond, pc), deadline, || {
            real::pthread_mutex_unlock()(mutex);
            control::release(Kind::Acquire, mutex);
        });
        control::before(slot, Kind::WaitAcquire, pc, mutex);
        let attempt = || Some(real::pthread_mutex_trylock()(mutex)).filter(|it| *it != EBUSY);
        let real = || real::pthread_mutex_lock()(mutex);
        let locked = take(slot, (MUTEX, mutex, pc), (NEVER, 0), attempt, real);
        if control::is_on() {
            control::misuse::took(slot, MUTEX, mutex);
        }
        let cancelled = control::take_cancelled(slot);
        let result = match () {
            () if cancelled => ECANCELED,
            () if late => TIMED_OUT,
            () => locked,
        };
        event::note(slot, Kind::WaitAcquire, pc, mutex, &[cond as u64, result as u64]);
        if cancelled {
            control::note_cancelled(slot);
            real::pthread_testcancel();
            return 0;
        }
        result
    }
}

/// Waits in the kernel on a condition variable that other processes may signal, too; then the scheduler
/// does not know when the wait ends. The trace has the release of the mutex and its acquisition, and no wait: the
/// signal that ends it may be in no trace.
///
/// # Safety
/// As for [`wait_here`].
unsafe fn wait_shared(
    slot: *mut ThreadSlot,
    (cond, mutex, pc): (usize, usize, usize),
    deadline: u64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        event::note(slot, Kind::Release, pc, mutex, &[MUTEX]);
        let left = deadline.saturating_sub(control::time::now());
        let until = sys::now(sys::MONOTONIC).saturating_add(left);
        let until = [until / 1_000_000_000, until % 1_000_000_000];
        let result = control::outside(|| match deadline {
            NEVER => real::pthread_cond_wait()(cond, mutex),
            _ => real::pthread_cond_clockwait()(
                cond,
                mutex,
                sys::MONOTONIC,
                &raw const until as usize,
            ),
        });
        control::misuse::took(slot, MUTEX, mutex);
        event::note(slot, Kind::Acquire, pc, mutex, &[MUTEX]);
        result
    }
}

/// Wakes one thread that waits on the condition variable in the scheduler.
pub fn notify_one(cond: usize) {
    control::release_one(Kind::Wait, cond);
}

/// Wakes all threads that wait on the condition variable in the scheduler.
pub fn notify_all(cond: usize) {
    control::release(Kind::Wait, cond);
}

/// Defines a function that waits on a condition variable, with or without a deadline.
macro_rules! wait {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $kind:expr, $error:ident,
       $result:ident, $deadline:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(cond: usize, mutex: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some(slot) = thread::recorded() else {
                    return real::$real()(cond, mutex, $($arg),*);
                };
                if $crate::control::is_on() {
                    let what = (cond, mutex, pc);
                    return $result($crate::intercept::cond::wait_here(slot, $kind, what, ($deadline)(cond)));
                }
                $crate::intercept::cond::begin(slot, $kind, cond, mutex, pc);
                let result = real::$real()(cond, mutex, $($arg),*);
                $crate::intercept::cond::end(slot, cond, mutex, pc, $error(result));
                result
            }
        }
    )* };
}

/// Defines a function that records an event on an object before it calls the real function, and
/// afterwards notifies the threads that wait in the scheduler.
macro_rules! announce {
    ($($name:ident = $real:ident, $kind:expr, $class:expr, $notify:ident;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(object: usize, pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some(slot) = thread::recorded() {
                    event::put(slot, $kind, pc, object, &[]);
                    $crate::control::destroyed::check(slot, object, $class, pc);
                }
                let result = real::$real()(object);
                $notify(object);
                result
            }
        }
    )* };
}

pub(super) use {announce, wait};

wait! {
    cond_wait() = pthread_cond_wait, Kind::Wait, posix, posix, |_| NEVER;
    cond_timedwait(until: usize) = pthread_cond_timedwait, Kind::TimedWait, posix, posix,
        |cond| at(clock_of(cond), until);
    cond_clockwait(clock: c_int, until: usize)
        = pthread_cond_clockwait, Kind::TimedWait, posix, posix, |_| at(clock, until);
}
announce! {
    cond_signal = pthread_cond_signal, Kind::Signal, ObjectClass::Cond, notify_one;
    cond_broadcast = pthread_cond_broadcast, Kind::Broadcast, ObjectClass::Cond, notify_all;
}
init! { cond_init(with: usize) = pthread_cond_init, ObjectClass::Cond, 0; }
destroy! { cond_destroy = pthread_cond_destroy, ObjectClass::Cond; }

interpose! {
    pthread_cond_init(2) => cond_init;
    pthread_cond_destroy(1) => cond_destroy;
    pthread_cond_wait(2) => cond_wait;
    pthread_cond_timedwait(3) => cond_timedwait;
    pthread_cond_clockwait(4) => cond_clockwait;
    pthread_cond_signal(1) => cond_signal;
    pthread_cond_broadcast(1) => cond_broadcast;
}
