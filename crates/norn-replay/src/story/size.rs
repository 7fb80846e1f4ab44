//! Sizes of libc's objects: the size distinguishes a variable from its first member.

use norn_model::{LockMode, Object};

/// Bytes of a condition variable.
pub const COND: u64 = 48;
/// Bytes of a barrier.
pub const BARRIER: u64 = 32;
/// Bytes of a semaphore.
pub const SEMAPHORE: u64 = 32;
/// Bytes of a once-only initialisation.
pub const ONCE: u64 = 4;
pub(super) const WORD: u64 = 4;
const MUTEX: u64 = 40;
const SPIN: u64 = 4;
const RWLOCK: u64 = 56;
const KEY: u64 = 4;

/// Bytes of a lock.
pub fn lock(mode: LockMode) -> u64 {
    match mode {
        LockMode::Mutex => MUTEX,
        LockMode::Spin => SPIN,
        LockMode::Read | LockMode::Write => RWLOCK,
    }
}

pub(super) fn of(class: Object) -> u64 {
    match class {
        Object::Mutex => MUTEX,
        Object::Spin => SPIN,
        Object::RwLock => RWLOCK,
        Object::Cond => COND,
        Object::Barrier => BARRIER,
        Object::Semaphore => SEMAPHORE,
        Object::Key => KEY,
    }
}
