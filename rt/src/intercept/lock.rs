//! Mutexes, spin locks and read-write locks.

use core::ffi::c_int;

use norn_abi::{Kind, LockClass, ObjectClass, arena::ThreadSlot};

use super::interpose;
use crate::{real, thread};

/// Added to a lock's class: the call would not have blocked.
pub const TRY: u64 = 8;
/// Added to a lock's class: the call would have blocked for some time only.
pub const TIMED: u64 = 16;
/// Added to a lock's class: its last owner died with it.
const OWNER_DIED: u64 = 32;
const EOWNERDEAD: c_int = 130;

/// Records the end of an attempt to take a lock.
pub unsafe fn attempted(slot: *mut ThreadSlot, class: u64, lock: usize, pc: usize, result: c_int) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        match result {
            0 => thread::event(slot, Kind::Acquire, pc, lock, &[class]),
            EOWNERDEAD => thread::event(slot, Kind::Acquire, pc, lock, &[class | OWNER_DIED]),
            error => thread::event(slot, Kind::AcquireFailed, pc, lock, &[class, error as u64]),
        }
    }
}

/// An error as it is: POSIX functions return it.
pub fn posix(result: c_int) -> c_int {
    result
}

/// Defines a function that takes a lock: its real one, the extra arguments, the class, and what
/// its result means.
macro_rules! acquire {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $class:expr, $error:ident;)*) => { $(
        unsafe extern "C-unwind" fn $name(lock: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                let Some(slot) = thread::recorded() else { return real::$real()(lock, $($arg),*) };
                thread::block(slot, Kind::Acquire, lock, pc);
                let result = real::$real()(lock, $($arg),*);
                thread::unblock(slot);
                attempted(slot, $class, lock, pc, $error(result));
                result
            }
        }
    )* };
}

/// Whether giving a mutex back will fail, because it checks its owner and that is another.
pub unsafe fn is_anothers(mutex: usize, slot: *mut ThreadSlot) -> bool {
    const RECURSIVE: u32 = 1;
    const CHECKING: u32 = 2;
    const ROBUST: u32 = 16;
    // SAFETY: libc keeps owner and kind in the third and fifth word of a mutex.
    unsafe {
        let words = mutex as *const u32;
        let (owner, kind) = (words.add(2).read_volatile(), words.add(4).read_volatile());
        let checks = matches!(kind & 3, RECURSIVE | CHECKING) || kind & ROBUST != 0;
        checks && owner != (*slot).head.tid
    }
}

/// Other locks do not know their owners.
unsafe fn is_nobodys(_: usize, _: *mut ThreadSlot) -> bool {
    false
}

/// Defines a function that gives a lock back: its real one, the class, and when it will not.
macro_rules! release {
    ($($name:ident = $real:ident, $class:expr, $fails:ident;)*) => { $(
        unsafe extern "C-unwind" fn $name(lock: usize, pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                if let Some(slot) = thread::recorded() && !$fails(lock, slot) {
                    thread::event(slot, Kind::Release, pc, lock, &[$class]);
                }
                real::$real()(lock)
            }
        }
    )* };
}

/// Defines a function that initialises an object.
macro_rules! init {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $class:expr, $detail:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(object: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                let result = real::$real()(object, $($arg),*);
                if let (0, Some(slot)) = (result, thread::recorded()) {
                    thread::event(slot, Kind::Init, pc, object, &[$class as u64, $detail as u64]);
                }
                result
            }
        }
    )* };
}

/// Defines a function that destroys an object.
macro_rules! destroy {
    ($($name:ident = $real:ident, $class:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(object: usize, pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                if let Some(slot) = thread::recorded() {
                    thread::event(slot, Kind::Destroy, pc, object, &[$class as u64]);
                }
                real::$real()(object)
            }
        }
    )* };
}

pub(super) use {acquire, destroy, init, release};

const MUTEX: u64 = LockClass::Mutex as u64;
const SPIN: u64 = LockClass::Spin as u64;
const READ: u64 = LockClass::Read as u64;
const WRITE: u64 = LockClass::Write as u64;

/// The type of a mutex lies in the attributes from which it is made.
unsafe fn mutex_type(attributes: usize) -> u32 {
    // SAFETY: null or a `pthread_mutexattr_t`, whose first word holds the type.
    if attributes == 0 { 0 } else { unsafe { *(attributes as *const u32) & 3 } }
}

acquire! {
    mutex_lock() = pthread_mutex_lock, MUTEX, posix;
    mutex_trylock() = pthread_mutex_trylock, MUTEX | TRY, posix;
    mutex_timedlock(until: usize) = pthread_mutex_timedlock, MUTEX | TIMED, posix;
    mutex_clocklock(clock: c_int, until: usize) = pthread_mutex_clocklock, MUTEX | TIMED, posix;
    spin_lock() = pthread_spin_lock, SPIN, posix;
    spin_trylock() = pthread_spin_trylock, SPIN | TRY, posix;
    rdlock() = pthread_rwlock_rdlock, READ, posix;
    tryrdlock() = pthread_rwlock_tryrdlock, READ | TRY, posix;
    timedrdlock(until: usize) = pthread_rwlock_timedrdlock, READ | TIMED, posix;
    clockrdlock(clock: c_int, until: usize) = pthread_rwlock_clockrdlock, READ | TIMED, posix;
    wrlock() = pthread_rwlock_wrlock, WRITE, posix;
    trywrlock() = pthread_rwlock_trywrlock, WRITE | TRY, posix;
    timedwrlock(until: usize) = pthread_rwlock_timedwrlock, WRITE | TIMED, posix;
    clockwrlock(clock: c_int, until: usize) = pthread_rwlock_clockwrlock, WRITE | TIMED, posix;
}
release! {
    mutex_unlock = pthread_mutex_unlock, MUTEX, is_anothers;
    spin_unlock = pthread_spin_unlock, SPIN, is_nobodys;
    // Which of the two it was, the reader of the trace knows from the thread's past.
    rw_unlock = pthread_rwlock_unlock, WRITE, is_nobodys;
}
init! {
    mutex_init(with: usize) = pthread_mutex_init, ObjectClass::Mutex, mutex_type(with);
    spin_init(shared: c_int) = pthread_spin_init, ObjectClass::Spin, 0;
    rw_init(with: usize) = pthread_rwlock_init, ObjectClass::RwLock, 0;
}
destroy! {
    mutex_destroy = pthread_mutex_destroy, ObjectClass::Mutex;
    spin_destroy = pthread_spin_destroy, ObjectClass::Spin;
    rw_destroy = pthread_rwlock_destroy, ObjectClass::RwLock;
}

interpose! {
    pthread_mutex_init(2) => mutex_init;
    pthread_mutex_destroy(1) => mutex_destroy;
    pthread_mutex_lock(1) => mutex_lock;
    pthread_mutex_trylock(1) => mutex_trylock;
    pthread_mutex_timedlock(2) => mutex_timedlock;
    pthread_mutex_clocklock(3) => mutex_clocklock;
    pthread_mutex_unlock(1) => mutex_unlock;
    pthread_spin_init(2) => spin_init;
    pthread_spin_destroy(1) => spin_destroy;
    pthread_spin_lock(1) => spin_lock;
    pthread_spin_trylock(1) => spin_trylock;
    pthread_spin_unlock(1) => spin_unlock;
    pthread_rwlock_init(2) => rw_init;
    pthread_rwlock_destroy(1) => rw_destroy;
    pthread_rwlock_rdlock(1) => rdlock;
    pthread_rwlock_tryrdlock(1) => tryrdlock;
    pthread_rwlock_timedrdlock(2) => timedrdlock;
    pthread_rwlock_clockrdlock(3) => clockrdlock;
    pthread_rwlock_wrlock(1) => wrlock;
    pthread_rwlock_trywrlock(1) => trywrlock;
    pthread_rwlock_timedwrlock(2) => timedwrlock;
    pthread_rwlock_clockwrlock(3) => clockwrlock;
    pthread_rwlock_unlock(1) => rw_unlock;
}
