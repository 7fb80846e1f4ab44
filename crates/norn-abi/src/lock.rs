//! The argument of the lock events `Acquire`, `AcquireFailed` and `Release`: a [`LockClass`] with
//! flags. Runtime and tools decode it with the same functions.

/// The class of a lock and of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LockClass {
    /// `pthread_mutex_t`, `mtx_t`, `std::mutex`.
    Mutex = 0,
    /// `pthread_spinlock_t`.
    Spin = 1,
    /// `pthread_rwlock_t`, acquired shared.
    Read = 2,
    /// `pthread_rwlock_t`, acquired exclusively.
    Write = 3,
}

/// The class of an initialised or destroyed object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ObjectClass {
    /// A mutex; the argument is its type.
    Mutex = 0,
    /// A spin lock.
    Spin = 1,
    /// A read-write lock.
    RwLock = 2,
    /// A condition variable.
    Cond = 3,
    /// A barrier; the argument is its thread count.
    Barrier = 4,
    /// A semaphore; the argument is its initial value.
    Semaphore = 5,
    /// A thread-specific data key.
    Key = 6,
    /// A descriptor of a file; the address is its number.
    Descriptor = 7,
}

/// The bits that contain the class.
const CLASS: u64 = 7;

/// Flag: the request does not wait.
pub const TRY: u64 = 8;
/// Flag: the request has a time limit.
pub const TIMED: u64 = 16;
/// Flag: a reader, which waits for writers that wait, too.
pub const QUEUED: u64 = 64;
/// Flag: a robust mutex was acquired whose last owner died while it held it.
pub const OWNER_DIED: u64 = 32;

impl LockClass {
    /// The class in an argument. Undefined codes count as mutexes.
    #[inline]
    pub const fn of(argument: u64) -> LockClass {
        match argument & CLASS {
            1 => LockClass::Spin,
            2 => LockClass::Read,
            3 => LockClass::Write,
            _ => LockClass::Mutex,
        }
    }

    /// The class of the locked object.
    pub const fn object(self) -> ObjectClass {
        match self {
            LockClass::Mutex => ObjectClass::Mutex,
            LockClass::Spin => ObjectClass::Spin,
            LockClass::Read | LockClass::Write => ObjectClass::RwLock,
        }
    }
}

impl ObjectClass {
    /// The class with a code. Undefined codes count as mutexes.
    pub const fn of(code: u64) -> ObjectClass {
        match code {
            1 => ObjectClass::Spin,
            2 => ObjectClass::RwLock,
            3 => ObjectClass::Cond,
            4 => ObjectClass::Barrier,
            5 => ObjectClass::Semaphore,
            6 => ObjectClass::Key,
            7 => ObjectClass::Descriptor,
            _ => ObjectClass::Mutex,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_do_not_change_the_class() {
        for class in [LockClass::Mutex, LockClass::Spin, LockClass::Read, LockClass::Write] {
            for flag in [0, TRY, TIMED, TIMED | OWNER_DIED, QUEUED] {
                assert_eq!(LockClass::of(class as u64 | flag), class);
            }
        }
    }

    #[test]
    fn object_classes_have_their_codes() {
        use ObjectClass as O;
        let all = [O::Mutex, O::Spin, O::RwLock, O::Cond, O::Barrier, O::Semaphore, O::Key];
        for class in all.into_iter().chain([O::Descriptor]) {
            assert_eq!(O::of(class as u64), class);
        }
    }
}
