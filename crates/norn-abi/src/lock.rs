//! How lock events say which lock was requested, and how: the argument of `Acquire`,
//! `AcquireFailed` and `Release` is a [`LockClass`] with flags. Runtime and tools read it with the
//! same functions.

/// What a lock event is about.
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

/// What kind of object was initialised or destroyed.
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
    /// A barrier; the argument is how many threads it holds.
    Barrier = 4,
    /// A semaphore; the argument is its first value.
    Semaphore = 5,
    /// A thread-specific data key.
    Key = 6,
}

/// The bits that are the class.
const CLASS: u64 = 7;

/// Flag: the request does not wait.
pub const TRY: u64 = 8;
/// Flag: the request has a time limit.
pub const TIMED: u64 = 16;
/// Flag: a robust mutex was acquired whose last owner died while it held it.
pub const OWNER_DIED: u64 = 32;

impl LockClass {
    /// The class in an argument. Codes that no version has defined are taken for mutexes.
    #[inline]
    pub const fn of(argument: u64) -> LockClass {
        match argument & CLASS {
            1 => LockClass::Spin,
            2 => LockClass::Read,
            3 => LockClass::Write,
            _ => LockClass::Mutex,
        }
    }

    /// The class of object that such a lock is.
    pub const fn object(self) -> ObjectClass {
        match self {
            LockClass::Mutex => ObjectClass::Mutex,
            LockClass::Spin => ObjectClass::Spin,
            LockClass::Read | LockClass::Write => ObjectClass::RwLock,
        }
    }
}

impl ObjectClass {
    /// The class with a code. Codes that no version has defined are taken for mutexes.
    pub const fn of(code: u64) -> ObjectClass {
        match code {
            1 => ObjectClass::Spin,
            2 => ObjectClass::RwLock,
            3 => ObjectClass::Cond,
            4 => ObjectClass::Barrier,
            5 => ObjectClass::Semaphore,
            6 => ObjectClass::Key,
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
            for flag in [0, TRY, TIMED, TIMED | OWNER_DIED] {
                assert_eq!(LockClass::of(class as u64 | flag), class);
            }
        }
    }

    #[test]
    fn object_classes_have_their_codes() {
        use ObjectClass as O;
        for class in [O::Mutex, O::Spin, O::RwLock, O::Cond, O::Barrier, O::Semaphore, O::Key] {
            assert_eq!(O::of(class as u64), class);
        }
    }
}
