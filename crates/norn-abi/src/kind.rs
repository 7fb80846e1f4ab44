//! The kinds of event a runtime can record.
//!
//! A kind says which fields its record has ([`Kind::shape`]); together with the program counter
//! it makes a *site key*. Memory accesses use the kinds below `0x40`, where the bits say all:
//! `class:2 | write:1 | log2(size):3`.

/// What a memory access hook was called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessClass {
    /// An ordinary load or store.
    Plain,
    /// Of a `volatile` object.
    Volatile,
    /// Of a C++ object's pointer to its virtual table.
    Vptr,
}

/// What a lock event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LockClass {
    /// `pthread_mutex_t`, `mtx_t`, `std::mutex`.
    Mutex = 0,
    /// `pthread_spinlock_t`.
    Spin = 1,
    /// `pthread_rwlock_t`, taken to read.
    Read = 2,
    /// `pthread_rwlock_t`, taken to write.
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

/// Which fields a record of a kind has after its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The value that was read or written, of this many bytes (up to 8).
    Access(u8),
    /// Two halves of a 16-byte value, or nothing while it is not known.
    Wide,
    /// A length, and as much of the content as was kept.
    Range,
    /// No further field.
    Bare,
    /// A sequence number and this many arguments.
    Sync(u8),
    /// A sequence number, one argument and a text.
    Text,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal : $shape:expr;)*) => {
        /// The kind of one event.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct Kind(pub u16);

        #[allow(non_upper_case_globals, reason = "they read as the variants they stand for")]
        impl Kind {
            $($(#[$doc])* pub const $name: Kind = Kind($code);)*

            /// Its name, for people.
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($code => stringify!($name),)*
                    code if code < 0x40 => if code & 8 == 0 { "Read" } else { "Write" },
                    _ => "Unknown",
                }
            }

            /// Which fields its record has; `None` for a code that no version defined.
            pub const fn shape(self) -> Option<Shape> {
                match self.0 {
                    $($code => Some($shape),)*
                    code if code & 7 < 4 && code >> 4 < 3 => Some(Shape::Access(1 << (code & 7))),
                    code if code & 7 == 4 && code >> 4 < 3 => Some(Shape::Wide),
                    _ => None,
                }
            }

            /// Every kind besides memory accesses.
            pub const ALL: &'static [Kind] = &[$(Kind($code)),*];
        }
    };
}

kinds! {
    /// A block of memory was read. Address, length, content.
    RangeRead = 0x40: Shape::Range;
    /// A block of memory was written. Address, length, content.
    RangeWrite = 0x41: Shape::Range;
    /// A function was entered. The address is that of the call.
    Enter = 0x42: Shape::Bare;
    /// Frames were left by `longjmp`. The address is the number that remain.
    Unwind = 0x43: Shape::Sync(0);

    /// A thread began. Address and size of its stack.
    Begin = 0x50: Shape::Sync(1);
    /// A thread ended.
    End = 0x51: Shape::Sync(0);
    /// A thread was created. The address is its number.
    Fork = 0x52: Shape::Sync(0);
    /// A thread was joined. The address is its number.
    Join = 0x53: Shape::Sync(0);
    /// A thread was detached. The address is its number.
    Detach = 0x54: Shape::Sync(0);
    /// A thread was asked to cancel itself. The address is its number.
    Cancel = 0x55: Shape::Sync(0);
    /// A signal handler began on this stream. Address is the signal's number.
    HandlerBegin = 0x56: Shape::Sync(0);
    /// A signal handler returned.
    HandlerEnd = 0x57: Shape::Sync(0);

    /// A lock was taken. Its class.
    Acquire = 0x60: Shape::Sync(1);
    /// A lock is about to be given back. Its class.
    Release = 0x61: Shape::Sync(1);
    /// A lock was not taken. Its class, the error.
    AcquireFailed = 0x62: Shape::Sync(2);
    /// A condition wait gives the mutex back.
    WaitRelease = 0x63: Shape::Sync(0);
    /// A condition wait begins. The mutex.
    Wait = 0x64: Shape::Sync(1);
    /// A condition wait has the mutex again. The condition, the result.
    WaitAcquire = 0x65: Shape::Sync(2);
    /// A condition is about to be signalled.
    Signal = 0x66: Shape::Sync(0);
    /// A condition is about to be broadcast.
    Broadcast = 0x67: Shape::Sync(0);
    /// A thread arrived at a barrier.
    BarrierEnter = 0x68: Shape::Sync(0);
    /// A thread left a barrier. The result.
    BarrierLeave = 0x69: Shape::Sync(1);
    /// A semaphore is about to be posted.
    SemPost = 0x6a: Shape::Sync(0);
    /// A semaphore was decremented.
    SemWait = 0x6b: Shape::Sync(0);
    /// A semaphore was not decremented. The error.
    SemFailed = 0x6c: Shape::Sync(1);
    /// A once-only initialisation begins here.
    OnceBegin = 0x6d: Shape::Sync(0);
    /// A once-only initialisation ended. Whether it completed.
    OnceEnd = 0x6e: Shape::Sync(1);
    /// A once-only initialisation was found done.
    OnceDone = 0x6f: Shape::Sync(0);

    /// An atomic load. Size and order, value.
    AtomicLoad = 0x70: Shape::Sync(2);
    /// An atomic store. Size and order, value.
    AtomicStore = 0x71: Shape::Sync(2);
    /// An atomic read-modify-write. Size and order and operation, value before, value after.
    AtomicRmw = 0x72: Shape::Sync(3);
    /// A compare-exchange that exchanged. Size and order, value before, value after.
    AtomicCas = 0x73: Shape::Sync(3);
    /// A compare-exchange that did not. Size and order, value seen, value expected.
    AtomicCasFailed = 0x74: Shape::Sync(3);
    /// A fence. The address is its order.
    Fence = 0x75: Shape::Sync(0);
    /// The program says: what came before a `HappensBefore` here is visible now.
    HappensAfter = 0x76: Shape::Sync(0);
    /// The program says: what I did so far is visible to who passes `HappensAfter` here.
    HappensBefore = 0x77: Shape::Sync(0);

    /// A thread waits for a word of memory. Never recorded: it is only what a thread blocks in.
    Futex = 0x78: Shape::Sync(0);

    /// A condition wait begins that lasts for some time only. The mutex.
    TimedWait = 0x79: Shape::Sync(1);
    /// A semaphore was decremented, which would have been waited for some time only.
    TimedSemWait = 0x7a: Shape::Sync(0);

    /// Memory was allocated. Size.
    Alloc = 0x80: Shape::Sync(1);
    /// Memory is about to be freed.
    Free = 0x81: Shape::Sync(0);
    /// Pages were mapped. Size.
    Map = 0x82: Shape::Sync(1);
    /// Pages are about to be unmapped. Size.
    Unmap = 0x83: Shape::Sync(1);
    /// A synchronisation object was initialised. Class, argument.
    Init = 0x84: Shape::Sync(2);
    /// A synchronisation object is about to be destroyed. Class.
    Destroy = 0x85: Shape::Sync(1);

    /// A function was called whose calls are recorded. The address is its number; its first three
    /// arguments.
    Call = 0x88: Shape::Sync(3);
    /// The other three arguments of the call before.
    CallRest = 0x89: Shape::Sync(3);
    /// Such a function returned. The address is its number; its result, and whether it has one.
    Return = 0x8a: Shape::Sync(2);
    /// The program says that something happened. The address is to what; the number of its name.
    Mark = 0x8b: Shape::Sync(1);
    /// The program says that an atomic region begins.
    RegionBegin = 0x8c: Shape::Sync(0);
    /// The program says that an atomic region ends.
    RegionEnd = 0x8d: Shape::Sync(0);
    /// A name of functions or marks. The address is its number.
    Name = 0x8e: Shape::Text;

    /// The thread sleeps. The address is for how long, in nanoseconds.
    Sleep = 0x90: Shape::Sync(0);
    /// The thread yields the processor.
    Yield = 0x91: Shape::Sync(0);
    /// The process forks. The address is the new process's number.
    ProcessFork = 0x92: Shape::Sync(0);
    /// The process is about to become another program.
    Exec = 0x93: Shape::Sync(0);
    /// The process is about to exit. The address is the status.
    Exit = 0x94: Shape::Sync(0);
    /// The process is about to abort.
    Abort = 0x95: Shape::Sync(0);
    /// A module is mapped. Load bias, end, path.
    Module = 0x96: Shape::Text;
    /// The values of 16-byte atomics do not fit an argument: high halves, before and after.
    HighHalves = 0x97: Shape::Sync(2);
    /// The thread has the turn now. The address is the index of its next event.
    Turn = 0x98: Shape::Sync(0);
    /// The time of a thread's wait has run out. The address is its number; whoever goes next says so.
    Expired = 0x99: Shape::Sync(0);
}

impl Kind {
    /// The kind of a memory access of `1 << log2` bytes.
    pub const fn access(class: AccessClass, write: bool, log2: u16) -> Kind {
        Kind((class as u16) << 4 | (write as u16) << 3 | log2)
    }

    /// For a memory access: its class, whether it writes, its size in bytes.
    pub const fn as_access(self) -> Option<(AccessClass, bool, u8)> {
        let class = match self.0 >> 4 {
            0 => AccessClass::Plain,
            1 => AccessClass::Volatile,
            2 => AccessClass::Vptr,
            _ => return None,
        };
        if self.0 & 7 > 4 {
            return None;
        }
        Some((class, self.0 & 8 != 0, 1 << (self.0 & 7)))
    }
}

impl core::fmt::Debug for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}({:#x})", self.name(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_kinds_say_what_they_are() {
        for class in [AccessClass::Plain, AccessClass::Volatile, AccessClass::Vptr] {
            for write in [false, true] {
                for log2 in 0..5 {
                    let kind = Kind::access(class, write, log2);
                    assert_eq!(kind.as_access(), Some((class, write, 1 << log2)));
                    assert!(kind.shape().is_some());
                }
            }
        }
    }

    #[test]
    fn other_kinds_are_no_accesses() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_access(), None, "{kind:?}");
            assert!(kind.shape().is_some(), "{kind:?}");
        }
    }
}
