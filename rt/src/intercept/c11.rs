//! The mutexes and condition variables of C11's `<threads.h>`. Their results are a different
//! enumeration than the errors of POSIX.

use core::ffi::c_int;

use norn_abi::{Kind, LockClass, ObjectClass};

use super::{
    cond::{announce, notify_all, notify_one, wait},
    interpose, lock,
    lock::{NOW, REALTIME, TIMED, TRY, acquire, at, attempted, init, is_anothers, release},
};
use crate::{control::NEVER, event, real, thread};

const MUTEX: u64 = LockClass::Mutex as u64;
/// The only type of C11 mutexes that POSIX also has, with the same number.
const RECURSIVE: c_int = 1;

/// The POSIX error that corresponds to a C11 result.
fn posix(result: c_int) -> c_int {
    const EBUSY: c_int = 16;
    const EINVAL: c_int = 22;
    const ENOMEM: c_int = 12;
    const ETIMEDOUT: c_int = 110;
    match result {
        0 => 0,
        1 => EBUSY,
        3 => ENOMEM,
        4 => ETIMEDOUT,
        _ => EINVAL,
    }
}

/// `thrd_timedout`, the result of a C11 function that timed out.
const TIMED_OUT: c_int = 4;

/// The C11 result that corresponds to a POSIX error of a wait.
fn c11(error: c_int) -> c_int {
    const ERROR: c_int = 2;
    match error {
        0 => 0,
        lock::TIMED_OUT => TIMED_OUT,
        _ => ERROR,
    }
}

acquire! {
    lock() = mtx_lock, MUTEX, posix, mtx_trylock, NEVER;
    trylock() = mtx_trylock, MUTEX | TRY, posix, mtx_trylock, NOW;
    timedlock(until: usize) = mtx_timedlock, MUTEX | TIMED, posix, mtx_trylock, at(REALTIME, until);
}
release! { unlock = mtx_unlock, MUTEX, is_anothers; }
init! {
    mutex_init(kind: c_int) = mtx_init, ObjectClass::Mutex, kind & RECURSIVE;
    cond_init() = cnd_init, ObjectClass::Cond, 0;
}
wait! {
    cond_wait() = cnd_wait, Kind::Wait, posix, c11, |_| NEVER;
    cond_timedwait(until: usize)
        = cnd_timedwait, Kind::TimedWait, posix, c11, |_| at(REALTIME, until);
}
announce! {
    signal = cnd_signal, Kind::Signal, ObjectClass::Cond, notify_one;
    broadcast = cnd_broadcast, Kind::Broadcast, ObjectClass::Cond, notify_all;
}

/// Defines a function that destroys an object and returns nothing.
macro_rules! destroy {
    ($($name:ident = $real:ident, $class:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(object: usize, pc: usize) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some(slot) = thread::recorded() {
                    event::put(slot, Kind::Destroy, pc, object, &[$class as u64]);
                    $crate::control::misuse::destroys(slot, object, $class, pc);
                }
                real::$real()(object);
            }
        }
    )* };
}

destroy! {
    mutex_destroy = mtx_destroy, ObjectClass::Mutex;
    cond_destroy = cnd_destroy, ObjectClass::Cond;
}

interpose! {
    mtx_init(2) => mutex_init;
    mtx_destroy(1) => mutex_destroy;
    mtx_lock(1) => lock;
    mtx_trylock(1) => trylock;
    mtx_timedlock(2) => timedlock;
    mtx_unlock(1) => unlock;
    cnd_init(1) => cond_init;
    cnd_destroy(1) => cond_destroy;
    cnd_wait(2) => cond_wait;
    cnd_timedwait(3) => cond_timedwait;
    cnd_signal(1) => signal;
    cnd_broadcast(1) => broadcast;
}
