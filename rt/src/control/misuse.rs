//! Detects misuse of locks in controlled runs: what POSIX leaves undefined or says may deadlock.
//!
//! Error-checking, recursive and robust mutexes report most misuse by an error, which is defined
//! behaviour; only normal mutexes, spin locks and read-write locks are checked for it. A lock that
//! the runtime did not see being taken is recognised by its owner, as libc stores it; where that is
//! not possible, nothing is claimed.

use norn_abi::{
    Kind, LockClass, ObjectClass,
    arena::ThreadSlot,
    control::verdict as found,
    libc_layout::{mutex, rwlock},
};
use norn_sched::TaskId;

use super::{destroyed, heap, held, is_on, seat::task_of, shared::lock as scheduler, verdict};

/// Ends the run if the thread waits for a lock that it holds itself, and so can never get. The lock
/// was just found to be taken.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a lock of this
/// class.
pub unsafe fn check_relock(slot: *mut ThreadSlot, class: u64, lock: usize, pc: usize) {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let Some(task) = task_of(slot) else { return };
        let held = held::class(task, lock);
        let relocks = match LockClass::of(class) {
            LockClass::Mutex => is_normal(lock) && held.is_some() && is_owner(slot, lock),
            LockClass::Spin => held.is_some(),
            // Readers may share a lock with themselves.
            LockClass::Read => held == Some(LockClass::Write),
            LockClass::Write => held.is_some(),
        };
        if relocks {
            verdict::memory(slot, found::RELOCK, pc, lock, lock);
        }
    }
}

/// Notes that the thread has taken a lock.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a lock of this
/// class.
#[cold]
pub unsafe fn took(slot: *mut ThreadSlot, class: u64, lock: usize) {
    // SAFETY: guaranteed by the caller.
    if let Some(task) = unsafe { task_of(slot) } {
        held::take(task, lock, LockClass::of(class));
    }
}

/// Notes that the thread releases a lock, by itself or by a wait, and ends the run if the thread
/// does not hold it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `lock` points to a lock of this
/// class.
#[inline(always)]
pub unsafe fn gives(slot: *mut ThreadSlot, kind: Kind, class: u64, lock: usize, pc: usize) {
    if is_on() {
        // SAFETY: guaranteed by the caller.
        unsafe { check_release(slot, kind, class, lock, pc) };
    }
}

/// # Safety
/// As for [`gives`].
#[cold]
unsafe fn check_release(slot: *mut ThreadSlot, kind: Kind, class: u64, lock: usize, pc: usize) {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let Some(task) = task_of(slot) else { return };
        if held::give(task, lock) || !held::is_complete(task) {
            return;
        }
        let held = match LockClass::of(class) {
            LockClass::Mutex => is_owner(slot, lock),
            LockClass::Spin => !others_hold(task, lock) && is_locked_spin(lock),
            LockClass::Read | LockClass::Write => may_hold(slot, task, lock),
        };
        if !held {
            let what =
                if kind == Kind::Wait { found::WAIT_NOT_HELD } else { found::UNLOCK_NOT_HELD };
            verdict::memory(slot, what, pc, lock, lock);
        }
    }
}

/// Whether a thread may hold a read-write lock that the runtime did not see it take. libc does not
/// know who the readers are, only how many.
///
/// # Safety
/// The slot is that of the task's thread, and `lock` points to a `pthread_rwlock_t`.
unsafe fn may_hold(slot: *mut ThreadSlot, task: TaskId, lock: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let words = lock as *const u32;
        let writer = words.add(rwlock::WRITER).read_volatile();
        if writer != 0 {
            return writer == (*slot).head.tid;
        }
        let readers = words.add(rwlock::READERS).read_volatile() >> rwlock::READER_SHIFT;
        readers as usize > count_others(task, lock)
    }
}

/// Number of other threads that hold a lock.
fn count_others(task: TaskId, lock: usize) -> usize {
    scheduler().living().filter(|it| *it != task && held::class(*it, lock).is_some()).count()
}

fn others_hold(task: TaskId, lock: usize) -> bool {
    count_others(task, lock) > 0
}

/// Ends the run if an object that is about to be destroyed is locked, or a thread waits on it; or if
/// its memory was freed.
///
/// # Safety
/// The slot is the current thread's and not a placeholder. The program passes `object` to a function
/// that destroys such an object.
#[inline(always)]
pub unsafe fn destroys(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    if is_on() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            destroyed::check_memory(slot, object, pc);
            if is_in_use(object, class) {
                verdict::memory(slot, found::DESTROY_IN_USE, pc, object, object);
            }
        }
    }
}

/// Whether a thread holds an object, or waits on it. A thread that was woken and has not continued
/// yet does not count: POSIX allows destroying a condition variable as soon as all are woken.
///
/// # Safety
/// `object` points to an object of this class.
unsafe fn is_in_use(object: usize, class: ObjectClass) -> bool {
    let scheduler = scheduler();
    let held = || scheduler.living().any(|it| held::class(it, object).is_some());
    match class {
        // SAFETY: guaranteed by the caller; the layout was checked.
        ObjectClass::Mutex => unsafe { is_locked(object) && held() },
        ObjectClass::Spin | ObjectClass::RwLock => held(),
        ObjectClass::Cond => scheduler.is_awaited(Kind::Wait, object),
        ObjectClass::Barrier => scheduler.is_awaited(Kind::BarrierEnter, object),
        ObjectClass::Semaphore => scheduler.is_awaited(Kind::SemWait, object),
        ObjectClass::Key | ObjectClass::Descriptor => false,
    }
}

/// A new object is made at this address: no thread holds it.
pub fn initialised(object: usize) {
    if is_on() {
        held::forget(scheduler().living(), object);
    }
}

/// Ends the run if a thread that ends holds a lock that is not robust.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn ends(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(task) = task_of(slot).filter(|_| is_on()) else { return };
        let left = held::all(task).find(|(lock, class)| is_left_locked(slot, *lock, *class));
        if let Some((lock, _)) = left {
            verdict::memory(slot, found::END_HOLDING_LOCK, 0, lock, lock);
        }
    }
}

/// Whether the thread holds a lock that nothing can release when it has ended.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn is_left_locked(slot: *mut ThreadSlot, lock: usize, class: LockClass) -> bool {
    // The memory of the lock may be gone, and then no thread misses the lock.
    // SAFETY: the heap is in use.
    if heap::is_on() && !unsafe { heap::is_good(lock) } {
        return false;
    }
    // SAFETY: the runtime's fault handler is installed.
    let word = |at: usize| unsafe { norn_abi::peek::word(lock + 4 * at) }.map(|it| it as u32);
    match class {
        LockClass::Mutex => {
            // SAFETY: guaranteed by the caller.
            let tid = unsafe { (*slot).head.tid };
            let robust = word(mutex::KIND).is_none_or(|it| it & mutex::ROBUST != 0);
            !robust && word(mutex::OWNER) == Some(tid)
        }
        LockClass::Spin | LockClass::Read | LockClass::Write => word(0).is_some(),
    }
}

/// Whether a mutex neither checks its owner nor counts.
///
/// # Safety
/// `lock` points to a `pthread_mutex_t`.
unsafe fn is_normal(lock: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    let kind = unsafe { (lock as *const u32).add(mutex::KIND).read_volatile() };
    !matches!(kind & mutex::TYPE, mutex::RECURSIVE | mutex::ERROR_CHECK)
}

/// Whether the thread owns a mutex.
///
/// # Safety
/// The slot is the current thread's, and `lock` points to a `pthread_mutex_t`.
unsafe fn is_owner(slot: *mut ThreadSlot, lock: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe { (lock as *const u32).add(mutex::OWNER).read_volatile() == (*slot).head.tid }
}

/// Whether a mutex is locked.
///
/// # Safety
/// `lock` points to a `pthread_mutex_t`.
unsafe fn is_locked(lock: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe { (lock as *const u32).add(mutex::OWNER).read_volatile() != 0 }
}

/// Whether a spin lock is taken: glibc's is 1 when it is free.
///
/// # Safety
/// `lock` points to a `pthread_spinlock_t`.
unsafe fn is_locked_spin(lock: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { (lock as *const i32).read_volatile() <= 0 }
}
