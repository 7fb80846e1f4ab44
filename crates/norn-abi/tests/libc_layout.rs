//! The libc of this machine has the layouts that the runtime reads, and the check detects other
//! layouts.
#![expect(unsafe_code, reason = "it calls functions of libc")]
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

use std::ffi::c_int;

use norn_abi::libc_layout::{Functions, UnknownLayout, barrier, check};

mod libc {
    use std::ffi::c_int;

    unsafe extern "C-unwind" {
        pub(crate) fn pthread_mutex_init(mutex: usize, attributes: usize) -> c_int;
        pub(crate) fn pthread_mutex_lock(mutex: usize) -> c_int;
        pub(crate) fn pthread_mutex_unlock(mutex: usize) -> c_int;
        pub(crate) fn pthread_mutex_destroy(mutex: usize) -> c_int;
        pub(crate) fn pthread_rwlock_init(lock: usize, attributes: usize) -> c_int;
        pub(crate) fn pthread_rwlock_rdlock(lock: usize) -> c_int;
        pub(crate) fn pthread_rwlock_wrlock(lock: usize) -> c_int;
        pub(crate) fn pthread_rwlock_unlock(lock: usize) -> c_int;
        pub(crate) fn pthread_cond_init(cond: usize, attributes: usize) -> c_int;
        pub(crate) fn pthread_cond_destroy(cond: usize) -> c_int;
        pub(crate) fn pthread_barrier_init(barrier: usize, attributes: usize, count: u32) -> c_int;
        pub(crate) fn pthread_barrier_destroy(barrier: usize) -> c_int;
        pub(crate) fn sem_init(semaphore: usize, shared: c_int, value: u32) -> c_int;
        pub(crate) fn sem_destroy(semaphore: usize) -> c_int;
        pub(crate) fn pthread_once(once: usize, function: usize) -> c_int;
        pub(crate) fn gettid() -> c_int;
    }
}

fn real() -> Functions {
    Functions {
        mutex_init: libc::pthread_mutex_init,
        mutex_lock: libc::pthread_mutex_lock,
        mutex_unlock: libc::pthread_mutex_unlock,
        mutex_destroy: libc::pthread_mutex_destroy,
        rwlock_init: libc::pthread_rwlock_init,
        rwlock_rdlock: libc::pthread_rwlock_rdlock,
        rwlock_wrlock: libc::pthread_rwlock_wrlock,
        rwlock_unlock: libc::pthread_rwlock_unlock,
        cond_init: libc::pthread_cond_init,
        cond_destroy: libc::pthread_cond_destroy,
        barrier_init: libc::pthread_barrier_init,
        barrier_destroy: libc::pthread_barrier_destroy,
        semaphore_init: libc::sem_init,
        semaphore_destroy: libc::sem_destroy,
        once: libc::pthread_once,
    }
}

fn checked(functions: &Functions) -> Result<(), UnknownLayout> {
    // SAFETY: the functions are libc's, or do less.
    unsafe { check(functions, u32::try_from(libc::gettid()).unwrap()) }
}

/// Leaves the object unchanged.
unsafe extern "C-unwind" fn keeps(_: usize) -> c_int {
    0
}

unsafe extern "C-unwind" fn makes_nothing(_: usize, _: usize) -> c_int {
    0
}

/// Stores the count in another word than glibc does.
unsafe extern "C-unwind" fn counts_elsewhere(object: usize, _: usize, count: u32) -> c_int {
    // SAFETY: `check` gives objects of 64 bytes.
    unsafe { (object as *mut u32).add(barrier::COUNT + 2).write(count) };
    0
}

/// One test, since the check of `pthread_once_t` must not run in several threads at a time.
#[test]
fn the_layout_of_this_libc_is_known_and_others_are_not() {
    let unknown = |functions: &Functions| checked(functions).map_err(|it| it.object);
    let real = real();
    assert_eq!(unknown(&real), Ok(()));
    let mutex = Functions { mutex_lock: keeps, mutex_unlock: keeps, ..real };
    assert_eq!(unknown(&mutex), Err("pthread_mutex_t"));
    let rwlock = Functions { rwlock_wrlock: keeps, rwlock_unlock: keeps, ..real };
    assert_eq!(unknown(&rwlock), Err("pthread_rwlock_t"));
    let cond = Functions { cond_init: makes_nothing, ..real };
    assert_eq!(unknown(&cond), Err("pthread_cond_t"));
    let barrier = Functions { barrier_init: counts_elsewhere, barrier_destroy: keeps, ..real };
    assert_eq!(unknown(&barrier), Err("pthread_barrier_t"));
    let once = Functions { once: makes_nothing, ..real };
    assert_eq!(unknown(&once), Err("pthread_once_t"));
}
