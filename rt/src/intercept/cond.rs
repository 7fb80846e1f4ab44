//! Condition variables. A wait is three events: the mutex given back, the wait, the mutex taken
//! again. The first two have their numbers before the real wait begins, the third after.

use core::ffi::c_int;

use norn_abi::{Kind, ObjectClass, arena::ThreadSlot};

use super::{
    interpose,
    lock::{destroy, init, posix},
};
use crate::{real, thread};

/// Records that a wait begins.
pub unsafe fn begin(slot: *mut ThreadSlot, cond: usize, mutex: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        thread::event(slot, Kind::WaitRelease, pc, mutex, &[]);
        thread::event(slot, Kind::Wait, pc, cond, &[mutex as u64]);
        thread::block(slot, Kind::Wait, cond, pc);
        thread::arm(slot, mutex);
    }
}

/// Records that it is over.
pub unsafe fn end(slot: *mut ThreadSlot, cond: usize, mutex: usize, pc: usize, result: c_int) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        thread::disarm(slot);
        thread::unblock(slot);
        thread::event(slot, Kind::WaitAcquire, pc, mutex, &[cond as u64, result as u64]);
    }
}

/// Defines a function that waits for a condition.
macro_rules! wait {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $error:ident;)*) => { $(
        unsafe extern "C-unwind" fn $name(cond: usize, mutex: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                let Some(slot) = thread::recorded() else {
                    return real::$real()(cond, mutex, $($arg),*);
                };
                $crate::intercept::cond::begin(slot, cond, mutex, pc);
                let result = real::$real()(cond, mutex, $($arg),*);
                $crate::intercept::cond::end(slot, cond, mutex, pc, $error(result));
                result
            }
        }
    )* };
}

/// Defines a function that is an event on an object before the real one is called.
macro_rules! announce {
    ($($name:ident = $real:ident, $kind:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(object: usize, pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                if let Some(slot) = thread::recorded() {
                    thread::event(slot, $kind, pc, object, &[]);
                }
                real::$real()(object)
            }
        }
    )* };
}

pub(super) use {announce, wait};

wait! {
    cond_wait() = pthread_cond_wait, posix;
    cond_timedwait(until: usize) = pthread_cond_timedwait, posix;
    cond_clockwait(clock: c_int, until: usize) = pthread_cond_clockwait, posix;
}
announce! {
    cond_signal = pthread_cond_signal, Kind::Signal;
    cond_broadcast = pthread_cond_broadcast, Kind::Broadcast;
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
