//! The mutexes and conditions of C11's `<threads.h>`. Their results are another enumeration.

use core::ffi::c_int;

use norn_abi::{Kind, LockClass, ObjectClass};

use super::{
    cond::{announce, wait},
    interpose,
    lock::{acquire, attempted, init, release},
};
use crate::{real, thread};

const MUTEX: u64 = LockClass::Mutex as u64;
const TRY: u64 = 8;
const TIMED: u64 = 16;

acquire! {
    lock() = mtx_lock, MUTEX;
    trylock() = mtx_trylock, MUTEX | TRY;
    timedlock(until: usize) = mtx_timedlock, MUTEX | TIMED;
}
release! { unlock = mtx_unlock, MUTEX; }
init! {
    mutex_init(plain: c_int) = mtx_init, ObjectClass::Mutex, plain;
    cond_init() = cnd_init, ObjectClass::Cond, 0;
}
wait! {
    cond_wait() = cnd_wait;
    cond_timedwait(until: usize) = cnd_timedwait;
}
announce! {
    signal = cnd_signal, Kind::Signal;
    broadcast = cnd_broadcast, Kind::Broadcast;
}

/// Defines a function without result that destroys an object.
macro_rules! destroy {
    ($($name:ident = $real:ident, $class:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(object: usize, pc: usize) {
            // SAFETY: as the caller called it.
            unsafe {
                if let Some(slot) = thread::recorded() {
                    thread::event(slot, Kind::Destroy, pc, object, &[$class as u64]);
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
