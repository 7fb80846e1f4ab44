//! Sizes of libc's objects: the size distinguishes a variable from its first member.

use norn_abi::{ObjectClass, libc_layout};
use norn_model::{LockMode, Object};

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
