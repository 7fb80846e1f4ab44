//! The kinds of event a runtime can record.
//!
//! A kind determines the fields of its record ([`Kind::shape`]); together with the program counter
//! it forms a *site key*. The set is closed: one table has the name, the code, the shape, the class
//! and the meaning of each kind, and every `match` on a kind avoids a wildcard arm. A code in a
//! trace that no kind has is damage, which [`Kind::from_code`] detects.
//!
//! Memory accesses have the codes below `0x40`, whose bits are `class:2 | write:1 | log2(size):3`.
//! Matches that treat them alike use [`access_kinds`](crate::access_kinds).
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]

use crate::control::class;

/// The class of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessClass {
    /// An ordinary load or store.
    Plain,
    /// A load or store of a `volatile` object.
    Volatile,
    /// A load or store of the vtable pointer of a C++ object.
    Vptr,
}

/// The fields of a record after its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A value of this many bytes (up to 8).
    Access(u8),
    /// Two halves of a 16-byte value, or nothing while it is unknown.
    Wide,
    /// A length, and the recorded part of the content.
    Range,
    /// No further field.
    Bare,
    /// A sequence number and this many arguments.
    Sync(u8),
    /// A sequence number, one argument and a text.
    Text,
}

/// What an event changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Something that another thread could see.
    Visible,
    /// Nothing: a thread that does nothing else makes no progress.
    None,
}

macro_rules! kinds {
    (
        accesses { $($access:ident = $access_code:literal;)* }
        $($(#[$doc:meta])* $name:ident = $code:literal : $shape:expr, $class:expr, $change:expr;)*
    ) => {
        /// The kind of one event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Kind {
            $(
                #[doc = "A memory access; [`Kind::as_access`] has its class, direction and size."]
                $access = $access_code,
            )*
            $($(#[$doc])* $name = $code,)*
        }

        impl Kind {
            /// Its name in output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Kind::$access => if $access_code & WRITE == 0 { "Read" } else { "Write" },)*
                    $(Kind::$name => stringify!($name),)*
                }
            }

            /// The fields of its record.
            pub const fn shape(self) -> Shape {
                match self {
                    $(Kind::$access => access_shape($access_code),)*
                    $(Kind::$name => $shape,)*
                }
            }

            /// What an event of this kind is about: one of [`control::class`](class).
            pub const fn class(self) -> u32 {
                match self {
                    $(Kind::$access => access_class($access_code),)*
                    $(Kind::$name => $class,)*
                }
            }

            /// Whether it changes what other threads can see. Plain accesses count as changes:
            /// a thread that spins on them is recognised by the values that it reads.
            #[inline(always)]
            pub const fn change(self) -> Change {
                match self {
                    $(Kind::$access => Change::Visible,)*
                    $(Kind::$name => $change,)*
                }
            }

            /// Every kind besides memory accesses.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),*];
        }

        /// All kinds by their codes. A table rather than a `match`, because the decoder of plain
        /// accesses looks up the kind of each record here.
        static BY_CODE: [Option<Kind>; CODES] = by_code();

        const fn by_code() -> [Option<Kind>; CODES] {
            let mut kinds = [None; CODES];
            $(kinds[$access_code] = Some(Kind::$access);)*
            $(kinds[$code] = Some(Kind::$name);)*
            kinds
        }

        /// The pattern that matches all memory accesses of up to 16 bytes, for a `match` on
        /// [`Kind`](crate::Kind) that treats them alike.
        #[macro_export]
        macro_rules! access_kinds {
            () => { $($crate::Kind::$access)|* };
        }
    };
}

/// Version of everything in this crate. A trace contains the version that wrote it. It is next to
/// the table of kinds because a new kind is a new version.
pub const VERSION: u32 = 6;
/// All codes are below this one.
pub const CODES: usize = 0x100;
/// The bit of an access's code that is set for writes.
pub(crate) const WRITE: u16 = 8;
/// The bits of an access's code that contain the logarithm of its size.
pub(crate) const SIZE: u16 = 7;

const fn access_shape(code: u16) -> Shape {
    match code & SIZE {
        4 => Shape::Wide,
        log2 => Shape::Access(1 << log2),
    }
}

kinds! {
    accesses {
        Read1 = 0x00;
        Read2 = 0x01;
        Read4 = 0x02;
        Read8 = 0x03;
        Read16 = 0x04;
        Write1 = 0x08;
        Write2 = 0x09;
        Write4 = 0x0a;
        Write8 = 0x0b;
        Write16 = 0x0c;
        VolatileRead1 = 0x10;
        VolatileRead2 = 0x11;
        VolatileRead4 = 0x12;
        VolatileRead8 = 0x13;
        VolatileRead16 = 0x14;
        VolatileWrite1 = 0x18;
        VolatileWrite2 = 0x19;
        VolatileWrite4 = 0x1a;
        VolatileWrite8 = 0x1b;
        VolatileWrite16 = 0x1c;
        VptrRead1 = 0x20;
        VptrRead2 = 0x21;
        VptrRead4 = 0x22;
        VptrRead8 = 0x23;
        VptrRead16 = 0x24;
        VptrWrite1 = 0x28;
        VptrWrite2 = 0x29;
        VptrWrite4 = 0x2a;
        VptrWrite8 = 0x2b;
        VptrWrite16 = 0x2c;
    }

    /// A block of memory was read. Address, length, content.
    RangeRead = 0x40: Shape::Range, class::READ, Change::None;
    /// A block of memory was written. Address, length, content.
    RangeWrite = 0x41: Shape::Range, class::WRITE, Change::Visible;
    /// A function was entered. The address is that of the call.
    Enter = 0x42: Shape::Bare, class::OTHER, Change::Visible;
    /// `longjmp` removed frames. The address is the number of remaining frames.
    Unwind = 0x43: Shape::Sync(0), class::OTHER, Change::Visible;

    /// A thread began. Address and size of its stack.
    Begin = 0x50: Shape::Sync(1), class::OTHER, Change::Visible;
    /// A thread ended.
    End = 0x51: Shape::Sync(0), class::OTHER, Change::Visible;
    /// A thread was created. The address is its number.
    Fork = 0x52: Shape::Sync(0), class::FORK, Change::Visible;
    /// A thread was joined. The address is its number.
    Join = 0x53: Shape::Sync(0), class::JOIN, Change::Visible;
    /// A thread was detached. The address is its number.
    Detach = 0x54: Shape::Sync(0), class::OTHER, Change::Visible;
    /// A thread was asked to cancel itself. The address is its number.
    Cancel = 0x55: Shape::Sync(0), class::OTHER, Change::Visible;
    /// A signal handler began on this stream. Address is the signal's number.
    HandlerBegin = 0x56: Shape::Sync(0), class::OTHER, Change::Visible;
    /// A signal handler returned.
    HandlerEnd = 0x57: Shape::Sync(0), class::OTHER, Change::Visible;

    /// A lock was acquired. Its class.
    Acquire = 0x60: Shape::Sync(1), class::LOCK, Change::Visible;
    /// A lock is about to be released. Its class.
    Release = 0x61: Shape::Sync(1), class::UNLOCK, Change::Visible;
    /// A lock was not acquired. Its class, the error.
    AcquireFailed = 0x62: Shape::Sync(2), class::LOCK, Change::None;
    /// A condition wait releases the mutex.
    WaitRelease = 0x63: Shape::Sync(0), class::WAIT, Change::Visible;
    /// A condition wait begins. The mutex.
    Wait = 0x64: Shape::Sync(1), class::WAIT, Change::Visible;
    /// A condition wait has reacquired the mutex. The condition, the result.
    WaitAcquire = 0x65: Shape::Sync(2), class::WAKE, Change::Visible;
    /// A condition is about to be signalled.
    Signal = 0x66: Shape::Sync(0), class::NOTIFY, Change::Visible;
    /// A condition is about to be broadcast.
    Broadcast = 0x67: Shape::Sync(0), class::NOTIFY, Change::Visible;
    /// A thread arrived at a barrier.
    BarrierEnter = 0x68: Shape::Sync(0), class::BARRIER, Change::Visible;
    /// A thread left a barrier. The result.
    BarrierLeave = 0x69: Shape::Sync(1), class::BARRIER, Change::Visible;
    /// A semaphore is about to be posted.
    SemPost = 0x6a: Shape::Sync(0), class::SEM_POST, Change::Visible;
    /// A semaphore was decremented.
    SemWait = 0x6b: Shape::Sync(0), class::SEM_WAIT, Change::Visible;
    /// A semaphore was not decremented. The error.
    SemFailed = 0x6c: Shape::Sync(1), class::SEM_WAIT, Change::None;
    /// A once-only initialisation begins here.
    OnceBegin = 0x6d: Shape::Sync(0), class::ONCE, Change::Visible;
    /// A once-only initialisation ended. Whether it completed.
    OnceEnd = 0x6e: Shape::Sync(1), class::ONCE, Change::Visible;
    /// A once-only initialisation had already completed.
    OnceDone = 0x6f: Shape::Sync(0), class::ONCE, Change::None;

    /// An atomic load. Size and order, value.
    AtomicLoad = 0x70: Shape::Sync(2), class::ATOMIC, Change::None;
    /// An atomic store. Size and order, value.
    AtomicStore = 0x71: Shape::Sync(2), class::ATOMIC, Change::Visible;
    /// An atomic read-modify-write. Size and order and operation, value before, value after.
    AtomicRmw = 0x72: Shape::Sync(3), class::ATOMIC, Change::Visible;
    /// A compare-exchange that exchanged. Size and order, value before, value after.
    AtomicCas = 0x73: Shape::Sync(3), class::ATOMIC, Change::Visible;
    /// A compare-exchange that failed. Size and order, value seen, value expected.
    AtomicCasFailed = 0x74: Shape::Sync(3), class::ATOMIC, Change::None;
    /// A fence. The address is its order.
    Fence = 0x75: Shape::Sync(0), class::ATOMIC, Change::None;
    /// An annotation: everything before a `HappensBefore` on this address is visible now.
    HappensAfter = 0x76: Shape::Sync(0), class::OTHER, Change::Visible;
    /// An annotation: everything so far is visible to a thread that passes `HappensAfter` on this
    /// address.
    HappensBefore = 0x77: Shape::Sync(0), class::OTHER, Change::Visible;

    /// A thread waits on a futex. Never recorded; only describes what a thread blocks in.
    Futex = 0x78: Shape::Sync(0), class::OTHER, Change::Visible;

    /// A condition wait with a timeout begins. The mutex.
    TimedWait = 0x79: Shape::Sync(1), class::WAIT, Change::Visible;
    /// A semaphore wait with a timeout has decremented the semaphore.
    TimedSemWait = 0x7a: Shape::Sync(0), class::SEM_WAIT, Change::Visible;

    /// Something was sent through an object of the kernel, which the address identifies. How many
    /// bytes, messages or counts; 0 for the end of all.
    Send = 0x7b: Shape::Sync(1), class::OTHER, Change::Visible;
    /// Something was received from such an object. How much, and one of [`receipt`](crate::receipt).
    Receive = 0x7c: Shape::Sync(2), class::OTHER, Change::Visible;
    /// A call that waits for files found such an object ready. One of [`receipt`](crate::receipt).
    Ready = 0x7d: Shape::Sync(1), class::OTHER, Change::None;
    /// A call on such an object, or one that waits for files, sent and received nothing. The address
    /// is the error.
    NotReady = 0x7e: Shape::Sync(0), class::OTHER, Change::None;
    /// As `Receive`, by a call with a time limit, which may also end without it.
    TimedReceive = 0x7f: Shape::Sync(2), class::OTHER, Change::Visible;

    /// Memory was allocated. Size.
    Alloc = 0x80: Shape::Sync(1), class::ALLOC, Change::Visible;
    /// Memory is about to be freed.
    Free = 0x81: Shape::Sync(0), class::FREE, Change::Visible;
    /// Pages were mapped. Size.
    Map = 0x82: Shape::Sync(1), class::OTHER, Change::Visible;
    /// Pages are about to be unmapped. Size.
    Unmap = 0x83: Shape::Sync(1), class::OTHER, Change::Visible;
    /// A synchronisation object was initialised. Class, argument.
    Init = 0x84: Shape::Sync(2), class::OTHER, Change::Visible;
    /// A synchronisation object is about to be destroyed. Class.
    Destroy = 0x85: Shape::Sync(1), class::OTHER, Change::Visible;
    /// An object without events of its own, such as a descriptor, is about to be used. Class.
    Use = 0x86: Shape::Sync(1), class::OTHER, Change::None;

    /// A function whose calls are recorded was called. The address is its number; its first three
    /// arguments.
    Call = 0x88: Shape::Sync(3), class::CALL, Change::None;
    /// The other three arguments of the preceding call.
    CallRest = 0x89: Shape::Sync(3), class::OTHER, Change::Visible;
    /// A function whose calls are recorded returned. The address is its number; its result, and
    /// whether it has one.
    Return = 0x8a: Shape::Sync(2), class::RETURN, Change::None;
    /// An annotation: the program executed a mark. The address is its object; the number of its
    /// name.
    Mark = 0x8b: Shape::Sync(1), class::MARK, Change::None;
    /// An annotation: an atomic region begins.
    RegionBegin = 0x8c: Shape::Sync(0), class::OTHER, Change::None;
    /// An annotation: an atomic region ends.
    RegionEnd = 0x8d: Shape::Sync(0), class::OTHER, Change::None;
    /// The name of functions or marks. The address is its number.
    Name = 0x8e: Shape::Text, class::OTHER, Change::Visible;

    /// The thread sleeps. The address is the duration in nanoseconds.
    Sleep = 0x90: Shape::Sync(0), class::SLEEP, Change::None;
    /// The thread yields the processor.
    Yield = 0x91: Shape::Sync(0), class::SLEEP, Change::None;
    /// The process forks. The address is the new process's number.
    ProcessFork = 0x92: Shape::Sync(0), class::OTHER, Change::Visible;
    /// The process is about to execute another program.
    Exec = 0x93: Shape::Sync(0), class::OTHER, Change::Visible;
    /// The process is about to exit. The address is the status.
    Exit = 0x94: Shape::Sync(0), class::OTHER, Change::Visible;
    /// The process is about to abort.
    Abort = 0x95: Shape::Sync(0), class::OTHER, Change::Visible;
    /// A module is mapped. Load bias, end, path.
    Module = 0x96: Shape::Text, class::OTHER, Change::Visible;
    /// High halves, before and after, of a 16-byte atomic operation; its values do not fit an
    /// argument.
    HighHalves = 0x97: Shape::Sync(2), class::OTHER, Change::Visible;
    /// The thread is scheduled now. The address is the index of its next event.
    Turn = 0x98: Shape::Sync(0), class::OTHER, Change::Visible;
    /// The wait of a thread has timed out. The address is the number of this thread; the thread
    /// that runs next records the event.
    Expired = 0x99: Shape::Sync(0), class::OTHER, Change::Visible;
}

impl Kind {
    /// Its code in a trace.
    #[inline(always)]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The kind with a code; `None` if no version defines it.
    #[inline(always)]
    pub fn from_code(code: u16) -> Option<Kind> {
        BY_CODE.get(usize::from(code)).copied().flatten()
    }

    /// The kind with a code that is known at compile time. An undefined code is a compile-time
    /// error.
    pub const fn of_constant<const CODE: u16>() -> Kind {
        const { known(by_code()[CODE as usize]) }
    }

    /// The code of a memory access of `1 << log2` bytes.
    pub const fn access_code(class: AccessClass, write: bool, log2: u16) -> u16 {
        (class as u16) << 4 | (write as u16) << 3 | log2
    }

    /// For a memory access: its class, whether it writes, its size in bytes.
    #[inline(always)]
    pub const fn as_access(self) -> Option<(AccessClass, bool, u8)> {
        let code = self.code();
        let class = match code >> 4 {
            0 => AccessClass::Plain,
            1 => AccessClass::Volatile,
            2 => AccessClass::Vptr,
            _ => return None,
        };
        Some((class, code & WRITE != 0, 1 << (code & SIZE)))
    }
}

const fn access_class(code: u16) -> u32 {
    if code & WRITE == 0 { class::READ } else { class::WRITE }
}

/// Evaluated at compile time only: see [`Kind::of_constant`].
const fn known(kind: Option<Kind>) -> Kind {
    match kind {
        Some(kind) => kind,
        None => panic!("no kind has this code"),
    }
}
