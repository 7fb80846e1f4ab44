//! The synchronisation of Rust's standard library, as the recorder finds it in a program and the
//! runtime replaces it.
//!
//! `std` is distributed as compiled code without hooks. Its locks are a word that the inlined fast path
//! changes by an atomic operation in the user's crate, where it looks like any other one, and a slow path
//! inside `std`. The recorder recognises these operations by debug information, and the calls of the slow
//! paths by symbols; the runtime redirects each such call to a function of its own, which has a [`Role`].
//! The word of a lock keeps the meaning that `std` gives it.
//!
//! Locks of the crate `lock_api`, such as those of `parking_lot`, are in the program with hooks. All of them implement the same
//! traits, whose methods the runtime encloses. Where the compiler inlined methods of well-known locks, the runtime replaces
//! their atomic operations: an attempt to take a lock at once fails, so that the method calls a function of
//! the lock, which is enclosed.

/// What a redirected call means.
///
/// The first group are calls of the hooks of atomic operations, or of functions of `core` with the same
/// arguments and result; the second one calls of functions of `core` that return a `Result`. Then come the
/// functions of `std` that contain these operations, where they were not inlined, and compiled functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Role {
    /// The compare-exchange in `Mutex::lock`.
    MutexLock = 0,
    /// The compare-exchange in `Mutex::try_lock`.
    MutexTryLock,
    /// The exchange in `Mutex::unlock`.
    MutexUnlock,
    /// The load that precedes the compare-exchange in `RwLock::read`.
    ReadLoad,
    /// The compare-exchange in `RwLock::read`.
    ReadLock,
    /// The load in `RwLock::try_read`.
    TryReadLoad,
    /// The compare-exchange in `RwLock::try_read`.
    TryReadLock,
    /// The subtraction in `RwLock::read_unlock`.
    ReadUnlock,
    /// The compare-exchange in `RwLock::write`.
    WriteLock,
    /// The load in `RwLock::try_write`.
    TryWriteLoad,
    /// The compare-exchange in `RwLock::try_write`.
    TryWriteLock,
    /// The subtraction in `RwLock::write_unlock`.
    WriteUnlock,
    /// The addition in `RwLock::downgrade`.
    Downgrade,
    /// The load in `Once::is_completed`.
    OnceCompleted,
    /// The exchange in `Parker::unpark`.
    Unpark,
    /// The load by which `thread::scope` waits for its threads.
    ScopeLoad,
    /// A load of a byte by which guards of locks detect panics.
    PoisonLoad,
    /// A load of the number of panicking threads.
    PanicCountLoad,

    /// The call of `compare_exchange` in `Mutex::lock`.
    MutexLockResult,
    /// The call of `compare_exchange` in `Mutex::try_lock`.
    MutexTryLockResult,
    /// The call of `compare_exchange_weak` in `RwLock::read`.
    ReadLockResult,
    /// The call of `compare_exchange_weak` in `RwLock::try_read`.
    TryReadLockResult,
    /// The call of `compare_exchange_weak` in `RwLock::write`.
    WriteLockResult,
    /// The call of `compare_exchange_weak` in `RwLock::try_write`.
    TryWriteLockResult,

    /// `Mutex::lock`
    MutexLockCall,
    /// `Mutex::try_lock`
    MutexTryLockCall,
    /// `Mutex::unlock`
    MutexUnlockCall,
    /// `RwLock::read`
    ReadCall,
    /// `RwLock::try_read`
    TryReadCall,
    /// `RwLock::read_unlock`
    ReadUnlockCall,
    /// `RwLock::write`
    WriteCall,
    /// `RwLock::try_write`
    TryWriteCall,
    /// `RwLock::write_unlock`
    WriteUnlockCall,
    /// `RwLock::downgrade`
    DowngradeCall,
    /// `Once::is_completed`
    OnceCompletedCall,
    /// `Parker::unpark`
    UnparkCall,
    /// The function that loads the flag of a poisoned lock.
    PoisonCall,

    /// `Condvar::wait`
    CondvarWait,
    /// `Condvar::wait_timeout`
    CondvarWaitTimeout,
    /// `Condvar::notify_one`
    CondvarNotifyOne,
    /// `Condvar::notify_all`
    CondvarNotifyAll,
    /// The slow path of `Once::call_once`.
    OnceCall,
    /// The slow path of `Once::wait`.
    OnceWait,
    /// `thread::park`
    Park,
    /// `thread::park_timeout`
    ParkTimeout,
    /// `Thread::park`, which `thread::scope` calls.
    ThreadPark,
    /// `Thread::park_timeout`, which channels call.
    ThreadParkTimeout,
    /// `Barrier::wait`
    BarrierWait,
    /// A scoped thread is done.
    ScopeEnd,

    /// A method of a trait of the crate `lock_api` that waits for a lock.
    RawLock,
    /// One that tries to take a lock, perhaps for some time, and returns whether it did.
    RawTryLock,
    /// One that releases a lock.
    RawUnlock,
    /// One that makes a writer a reader.
    RawDowngrade,
    /// One that makes a reader a writer.
    RawUpgrade,
    /// One that tries to make a reader a writer.
    RawTryUpgrade,
    /// One that leaves the lock as it is.
    RawOther,
    /// `parking_lot::Condvar::wait_until_internal`, which all waits call.
    ParkingLotWait,
    /// `parking_lot::Condvar::notify_one`
    ParkingLotNotifyOne,
    /// `parking_lot::Condvar::notify_all`
    ParkingLotNotifyAll,

    /// The compare-exchange of 8 bits in an inlined method that waits for a lock. If it fails, the method calls a function
    /// that takes the lock in any state.
    RawAttempt8,
    /// The same with 64 bits.
    RawAttempt64,
    /// The load of 64 bits in an inlined method that takes a lock, or releases one. If all bits are set, the method calls a
    /// function that does it in any state.
    RawAttemptLoad64,
    /// The load of 8 bits in an inlined method that tries to take a lock.
    RawTryLoad8,
    /// The compare-exchange of 8 bits in such a method, after the load.
    RawTry8,
    /// The only operation of an inlined method that tries to take a lock exclusively.
    RawTry64,
    /// The compare-exchange of 8 bits in an inlined method that releases a lock.
    RawGive8,
    /// The compare-exchange of 64 bits in an inlined method that releases a lock that is held exclusively.
    RawGive64,
    /// The subtraction in an inlined method that releases a lock that is shared.
    RawGiveShared64,
    /// A load of 8 bits in an inlined method that means nothing.
    RawLoad8,
    /// The same with 64 bits.
    RawLoad64,
    /// A function that waits for a lock, at most until the time that its last two arguments are.
    RawLockUntil,
    /// A function that waits for a lock that is shared, with the same arguments after another one.
    RawLockSharedUntil,
    /// A function that completes the release of a lock if threads wait for it.
    RawGiven,
    /// The load in `parking_lot::Condvar::notify_one`, where that was inlined.
    ParkingLotNotifyOneLoad,
    /// The load in `parking_lot::Condvar::notify_all`, where that was inlined.
    ParkingLotNotifyAllLoad,
    /// What `notify_one` calls after the load if a thread waits.
    ParkingLotNotifyOneSlow,
    /// What `notify_all` calls after the load if a thread waits.
    ParkingLotNotifyAllSlow,

    /// An exchange of 32 bits in the drop of a value that may contain the guard of a mutex, several of which the compiler has merged.
    MergedExchange,
    /// A subtraction from 32 bits in the drop of a value that may contain a guard of a read-write lock.
    MergedSubtraction,
    /// A compare-exchange of 8 bits that the compiler has merged from several operations of a mutex of `lock_api`.
    RawMerged8,
    /// The same with 64 bits, of a read-write lock.
    RawMerged64,
    /// A subtraction from 64 bits near the release of a read-write lock that is shared.
    RawMergedShared64,

    /// No call: the offset of the current thread's handle from the thread pointer.
    CurrentThread,
    /// No call: the offset of the word that a thread parks on from its handle.
    Parker,
    /// No call: the offset of the number of threads in the data of a scope.
    ScopeCount,
    /// No call: compiled code of Rust's libraries.
    Compiled,
}

/// Number of roles.
pub const ROLES: usize = Role::Compiled as usize + 1;
/// Maximum number of ranges of compiled code.
pub const RANGES: usize = 32;

/// What [`Redirect::at`] is: a value of [`Redirect::place`].
pub mod place {
    /// The return address of a call.
    pub const CALL: u16 = 0;
    /// A slot with the address of the called function.
    pub const SLOT: u16 = 1;
    /// Nothing.
    pub const NONE: u16 = 2;
    /// The beginning of a range of code.
    pub const RANGE: u16 = 3;
    /// The beginning of a function with room for a call; see [`function`](crate::function).
    pub const ENTRY: u16 = 4;
}

/// What a method of `lock_api` does to the lock: in [`Redirect::offset`].
pub mod raw_lock {
    /// Readers share it.
    pub const SHARED: i32 = 1;
    /// A reader waits while a writer waits.
    pub const WRITERS_FIRST: i32 = 2;
    /// It is a lock for readers and writers.
    pub const READ_WRITE: i32 = 4;
}

/// A call that the runtime redirects, or a slot through which the program calls a function.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Redirect {
    /// An address relative to the module's lowest one.
    pub at: u64,
    /// The number of the [`Role`].
    pub role: u16,
    /// One of [`place`].
    pub place: u16,
    /// For the roles that are no calls: the offset, or the length of the range. For the methods of `lock_api`:
    /// flags of [`raw_lock`].
    pub offset: i32,
}

const _: () = assert!(size_of::<Redirect>() == 16);
