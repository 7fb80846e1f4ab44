//! Sizes of libc's objects: the size distinguishes a variable from its first member.

use norn_abi::{
    ObjectClass,
    libc_layout::{self, barrier, cond, semaphore},
};
use norn_model::{LockMode, Object};

/// Bytes of a condition variable.
pub(crate) const COND: u64 = cond::SIZE;
/// Bytes of a barrier.
pub(crate) const BARRIER: u64 = barrier::SIZE;
/// Bytes of a semaphore.
pub(crate) const SEMAPHORE: u64 = semaphore::SIZE;

/// Bytes of a lock.
pub(crate) fn lock(mode: LockMode) -> u64 {
    of(mode.object())
}

/// Bytes of an object.
pub(crate) fn of(class: Object) -> u64 {
    libc_layout::size(match class {
        Object::Mutex => ObjectClass::Mutex,
        Object::Spin => ObjectClass::Spin,
        Object::RwLock => ObjectClass::RwLock,
        Object::Cond => ObjectClass::Cond,
        Object::Barrier => ObjectClass::Barrier,
        Object::Semaphore => ObjectClass::Semaphore,
        Object::Key => ObjectClass::Key,
    })
}
