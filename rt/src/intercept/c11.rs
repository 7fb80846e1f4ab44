//! The mutexes, conditions and keys of C11's `<threads.h>`. Their results are another enumeration.

use core::ffi::c_int;

use norn_abi::{Kind, LockClass, ObjectClass};

use super::{
    cond::{announce, wait},
    interpose,
    lock::{TIMED, TRY, acquire, attempted, init, is_anothers, release},
    threads::{key_created, key_deleted},
};
use crate::{real, thread};

const MUTEX: u64 = LockClass::Mutex as u64;
/// Of the types of C11's mutexes the only one that POSIX has, too, and by the same number.
const RECURSIVE: c_int = 1;

/// The POSIX error that a result of C11 stands for.
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

acquire! {
    lock() = mtx_lock, MUTEX, posix;
    trylock() = mtx_trylock, MUTEX | TRY, posix;
    timedlock(until: usize) = mtx_timedlock, MUTEX | TIMED, posix;
}
release! { unlock = mtx_unlock, MUTEX, is_anothers; }
init! {
    mutex_init(kind: c_int) = mtx_init, ObjectClass::Mutex, kind & RECURSIVE;
    cond_init() = cnd_init, ObjectClass::Cond, 0;
}
wait! {
    cond_wait() = cnd_wait, posix;
    cond_timedwait(until: usize) = cnd_timedwait, posix;
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

unsafe extern "C-unwind" fn key_create(key: usize, destructor: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let result = real::tss_create()(key, destructor);
        if result == 0 {
            key_created(key, pc);
        }
        result
    }
}

unsafe extern "C-unwind" fn key_delete(key: u32, pc: usize) {
    // SAFETY: as the caller called it.
    unsafe {
        key_deleted(key, pc);
        real::tss_delete()(key);
    }
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
    tss_create(2) => key_create;
    tss_delete(1) => key_delete;
}
