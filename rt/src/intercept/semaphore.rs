//! Semaphores.

use core::ffi::c_int;

use norn_abi::{Kind, ObjectClass};

use super::{
    cond::announce,
    interpose,
    lock::{destroy, init},
};
use crate::{real, thread};

/// Defines a function that decrements a semaphore.
macro_rules! decrement {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident;)*) => { $(
        unsafe extern "C-unwind" fn $name(semaphore: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                let Some(slot) = thread::recorded() else { return real::$real()(semaphore, $($arg),*) };
                thread::block(slot, Kind::SemWait, semaphore, pc);
                let result = real::$real()(semaphore, $($arg),*);
                thread::unblock(slot);
                if result == 0 {
                    thread::event(slot, Kind::SemWait, pc, semaphore, &[]);
                } else {
                    thread::event(slot, Kind::SemFailed, pc, semaphore, &[real::errno()]);
                }
                result
            }
        }
    )* };
}

decrement! {
    wait() = sem_wait;
    trywait() = sem_trywait;
    timedwait(until: usize) = sem_timedwait;
    clockwait(clock: c_int, until: usize) = sem_clockwait;
}
announce! { post = sem_post, Kind::SemPost; }
init! { create(shared: c_int, value: u32) = sem_init, ObjectClass::Semaphore, value; }
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
