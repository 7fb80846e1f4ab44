//! Mutexes, spin locks and read-write locks.

use core::ffi::c_int;

pub use norn_abi::lock::{TIMED, TRY};
use norn_abi::{
    Kind, LockClass, ObjectClass,
    arena::ThreadSlot,
    libc_layout::{mutex, rwlock},
    lock::OWNER_DIED,
};

use super::{interpose, sleep::length, writers_first};
use crate::{
    control::{self, NEVER, destroyed, misuse},
    event, libc_check, real, thread,
};

const EOWNERDEAD: c_int = 130;

/// Records the result of an attempt to take a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a lock of this
/// class.
#[inline(always)]
pub unsafe fn attempted(slot: *mut ThreadSlot, class: u64, lock: usize, pc: usize, result: c_int) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if matches!(result, 0 | EOWNERDEAD) && control::is_on() {
            misuse::took(slot, class, lock);
        }
        match result {
            0 => event::note_inline(slot, Kind::Acquire, pc, lock, &[class]),
            EOWNERDEAD => event::note(slot, Kind::Acquire, pc, lock, &[class | OWNER_DIED]),
            error => event::note(slot, Kind::AcquireFailed, pc, lock, &[class, error as u64]),
        }
    }
}

/// Returns the error unchanged: POSIX functions return errors as their result.
pub fn posix(result: c_int) -> c_int {
    result
}

/// `EBUSY`, the result of a POSIX function that does not wait.
pub const BUSY: c_int = 16;
/// `ETIMEDOUT`, the result of a POSIX function that timed out.
pub const TIMED_OUT: c_int = 110;

/// Takes a lock as soon as it is free, and waits in the scheduler until then. `attempt` is the
/// non-blocking form; `real` is the function that the program called, which reports the error of a
/// thread that can never succeed.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a lock of this
/// class.
pub unsafe fn take(
    slot: *mut ThreadSlot,
    (class, lock, pc): (u64, usize, usize),
    (deadline, timed_out): (u64, c_int),
    attempt: impl Fn() -> Option<c_int>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let mut claim = writers_first::Claim::new(class, lock);
        loop {
            destroyed::check(slot, lock, destroyed::class_of(class), pc);
            if control::is_on() && claim.is_refused() {
                if deadline == NOW {
                    return BUSY;
                }
            } else if let Some(result) = attempt() {
                return result;
            }
            if deadline == NEVER && control::is_on() {
                misuse::check_relock(slot, class, lock, pc);
            }
            if deadline == NOW || !control::is_on() || fails(class, lock, slot) {
                return real();
            }
            if claim.make(slot, pc) {
                continue;
            }
            let late = match is_outside(class, lock) {
                true => control::block_outside(slot, pc, deadline),
                false => control::block(slot, Kind::Acquire, lock, pc, deadline),
            };
            if late {
                return timed_out;
            }
        }
    }
}

/// The deadline of a call that does not wait.
pub const NOW: u64 = 0;

/// Whether a thread can never get a lock because it already holds it, and libc reports that as an
/// error.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a lock of this
/// class.
unsafe fn fails(class: u64, lock: usize, slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let (words, tid) = (lock as *const u32, (*slot).head.tid);
        match LockClass::of(class) {
            LockClass::Mutex => {
                let kind = *words.add(mutex::KIND) & mutex::TYPE;
                kind == mutex::ERROR_CHECK && *words.add(mutex::OWNER) == tid
            }
            LockClass::Read | LockClass::Write => *words.add(rwlock::WRITER) == tid,
            LockClass::Spin => false,
        }
    }
}

/// Whether a thread that the scheduler does not control holds a lock, or may hold it.
///
/// # Safety
/// `lock` points to a lock of this class.
unsafe fn is_outside(class: u64, lock: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let words = lock as *const u32;
        match LockClass::of(class) {
            LockClass::Mutex => {
                let shared = *words.add(mutex::KIND) & mutex::SHARED != 0;
                shared || control::is_foreign(*words.add(mutex::OWNER))
            }
            LockClass::Read | LockClass::Write => {
                let shared = *words.add(rwlock::SHARED) != 0;
                shared || control::is_foreign(*words.add(rwlock::WRITER))
            }
            LockClass::Spin => false,
        }
    }
}

/// The deadline, in virtual time, of a POSIX function that was given an absolute time on a clock.
///
/// # Safety
/// `time` points to a `timespec`.
pub unsafe fn at(clock: c_int, time: usize) -> u64 {
    // SAFETY: the `timespec` is guaranteed by the caller.
    let time = unsafe { length(time) };
    if control::is_on() { control::time::when(clock, time).max(NOW + 1) } else { NEVER }
}

/// The default clock for the deadlines of POSIX functions.
pub const REALTIME: c_int = 0;

/// Defines a function that takes a lock: the real function, the extra arguments, the class, the
/// conversion of its result, the non-blocking form, and the deadline.
macro_rules! acquire {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $class:expr, $error:ident,
       $attempt:ident, $deadline:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(lock: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some(slot) = thread::recorded() else { return real::$real()(lock, $($arg),*) };
                $crate::control::before(slot, Kind::Acquire, pc, lock);
                event::block(slot, Kind::Acquire, lock, pc);
                let class = $crate::intercept::writers_first::request($class, lock);
                let result = if $crate::control::is_on() {
                    let attempt = || {
                        let result = real::$attempt()(lock);
                        ($error(result) != $crate::intercept::lock::BUSY).then_some(result)
                    };
                    let real = || real::$real()(lock, $($arg),*);
                    $crate::intercept::lock::take(
                        slot, (class, lock, pc), ($deadline, TIMED_OUT), attempt, real,
                    )
                } else {
                    real::$real()(lock, $($arg),*)
                };
                event::unblock(slot);
                attempted(slot, class, lock, pc, $error(result));
                result
            }
        }
    )* };
}

/// Whether the release of a mutex will fail, because the mutex checks its owner and another thread
/// owns it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a
/// `pthread_mutex_t`.
pub unsafe fn is_anothers(lock: usize, slot: *mut ThreadSlot) -> bool {
    if !libc_check::is_known() {
        return false;
    }
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let words = lock as *const u32;
        let owner = words.add(mutex::OWNER).read_volatile();
        let kind = words.add(mutex::KIND).read_volatile();
        let checks = matches!(kind & mutex::TYPE, mutex::RECURSIVE | mutex::ERROR_CHECK);
        (checks || kind & mutex::ROBUST != 0) && owner != (*slot).head.tid
    }
}

/// Other locks do not know their owner, so their release does not fail.
///
/// # Safety
/// None: the arguments are not used.
unsafe fn is_nobodys(_: usize, _: *mut ThreadSlot) -> bool {
    false
}

/// Defines a function that releases a lock: the real function, the class, and when the release
/// fails.
macro_rules! release {
    ($($name:ident = $real:ident, $class:expr, $fails:ident;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(lock: usize, pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some(slot) = thread::recorded() && !$fails(lock, slot) {
                    $crate::control::before(slot, Kind::Release, pc, lock);
                    event::note_inline(slot, Kind::Release, pc, lock, &[$class]);
                    let class = $crate::control::destroyed::class_of($class);
                    $crate::control::destroyed::check(slot, lock, class, pc);
                    $crate::control::misuse::gives(slot, Kind::Release, $class, lock, pc);
                }
                let result = real::$real()(lock);
                $crate::control::release(Kind::Acquire, lock);
                result
            }
        }
    )* };
}

/// Defines a function that initialises an object.
macro_rules! init {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:ident, $class:expr, $detail:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(object: usize, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let result = real::$real()(object, $($arg),*);
                $crate::control::destroyed::unpoison(object, $class);
                $crate::control::misuse::initialised(object);
                if let (0, Some(slot)) = (result, thread::recorded()) {
                    event::put(slot, Kind::Init, pc, object, &[$class as u64, $detail as u64]);
                }
                result
            }
        }
    )* };
}

/// Defines a function that destroys an object.
macro_rules! destroy {
    ($($name:ident = $real:ident, $class:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(object: usize, pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some(slot) = thread::recorded() {
                    event::put(slot, Kind::Destroy, pc, object, &[$class as u64]);
                    $crate::control::misuse::destroys(slot, object, $class, pc);
                }
                let result = real::$real()(object);
                if result == 0 {
                    $crate::control::destroyed::poison(object, $class);
                }
                result
            }
        }
    )* };
}

pub(super) use {acquire, destroy, init, release};

const MUTEX: u64 = LockClass::Mutex as u64;
const SPIN: u64 = LockClass::Spin as u64;
const READ: u64 = LockClass::Read as u64;
const WRITE: u64 = LockClass::Write as u64;

/// The type of a mutex, from the attributes that it is initialised with.
///
/// # Safety
/// `attributes` is null or points to a `pthread_mutexattr_t`.
unsafe fn mutex_type(attributes: usize) -> u32 {
    // SAFETY: null or a `pthread_mutexattr_t`, whose first word contains the type.
    if attributes == 0 { 0 } else { unsafe { *(attributes as *const u32) & mutex::TYPE } }
}

acquire! {
    mutex_lock() = pthread_mutex_lock, MUTEX, posix, pthread_mutex_trylock, NEVER;
    mutex_trylock() = pthread_mutex_trylock, MUTEX | TRY, posix, pthread_mutex_trylock, NOW;
    mutex_timedlock(until: usize)
        = pthread_mutex_timedlock, MUTEX | TIMED, posix, pthread_mutex_trylock, at(REALTIME, until);
    mutex_clocklock(clock: c_int, until: usize)
        = pthread_mutex_clocklock, MUTEX | TIMED, posix, pthread_mutex_trylock, at(clock, until);
    spin_lock() = pthread_spin_lock, SPIN, posix, pthread_spin_trylock, NEVER;
    spin_trylock() = pthread_spin_trylock, SPIN | TRY, posix, pthread_spin_trylock, NOW;
    rdlock() = pthread_rwlock_rdlock, READ, posix, pthread_rwlock_tryrdlock, NEVER;
    tryrdlock() = pthread_rwlock_tryrdlock, READ | TRY, posix, pthread_rwlock_tryrdlock, NOW;
    timedrdlock(until: usize)
        = pthread_rwlock_timedrdlock, READ | TIMED, posix, pthread_rwlock_tryrdlock, at(REALTIME, until);
    clockrdlock(clock: c_int, until: usize)
        = pthread_rwlock_clockrdlock, READ | TIMED, posix, pthread_rwlock_tryrdlock, at(clock, until);
    wrlock() = pthread_rwlock_wrlock, WRITE, posix, pthread_rwlock_trywrlock, NEVER;
    trywrlock() = pthread_rwlock_trywrlock, WRITE | TRY, posix, pthread_rwlock_trywrlock, NOW;
    timedwrlock(until: usize)
        = pthread_rwlock_timedwrlock, WRITE | TIMED, posix, pthread_rwlock_trywrlock, at(REALTIME, until);
    clockwrlock(clock: c_int, until: usize)
        = pthread_rwlock_clockwrlock, WRITE | TIMED, posix, pthread_rwlock_trywrlock, at(clock, until);
}
release! {
    mutex_unlock = pthread_mutex_unlock, MUTEX, is_anothers;
    spin_unlock = pthread_spin_unlock, SPIN, is_nobodys;
    // The reader of the trace knows from the thread's earlier events whether it held a read or a
    // write lock.
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
