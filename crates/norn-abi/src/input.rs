//! What a program gets from outside, kept so that it can be fed back.
//!
//! With each [`Input`] comes what the call wrote into the program's memory, padded to eight bytes.
//! The runtime appends to one room what it kept; in the other the tool puts what is to be fed back,
//! thread by thread.
//!
//! ```text
//! [ Inputs | fed: Input, bytes, Input, bytes, .. | kept: Input, bytes, .. ]
//! ```

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes for the inputs that are fed back, and as many for those that are kept.
pub const ROOM: usize = 64 << 20;
/// Set in [`crate::control::Plan::inputs`]: keep what comes from outside.
pub const KEEP: u32 = 1;
/// Set in [`crate::control::Plan::inputs`]: feed it back.
pub const FEED: u32 = 2;

/// Which call it was: in [`Asked::call`].
pub mod call {
    /// Declares calls, and their names for people.
    macro_rules! calls {
        ($($constant:ident = $code:literal $name:literal,)*) => {
            $(#[doc = concat!("`", $name, "`.")] pub const $constant: u32 = $code;)*
            /// All of them, by their names.
            pub const NAMES: &[(u32, &str)] = &[$(($constant, $name)),*];
        };
    }
    calls! {
        READ = 1 "read", READV = 2 "readv", PREAD = 3 "pread", RECV = 4 "recv",
        RECVFROM = 5 "recvfrom", RECVMSG = 6 "recvmsg", ACCEPT = 7 "accept", WRITE = 8 "write",
        WRITEV = 9 "writev", SEND = 10 "send", SENDTO = 11 "sendto", SENDMSG = 12 "sendmsg",
        CONNECT = 13 "connect", BIND = 14 "bind", LISTEN = 15 "listen", SHUTDOWN = 16 "shutdown",
        GETSOCKNAME = 17 "getsockname", GETPEERNAME = 18 "getpeername",
        GETSOCKOPT = 19 "getsockopt", POLL = 20 "poll", SELECT = 21 "select",
        EPOLL_WAIT = 22 "epoll_wait",
    }

    /// Whether the program tells the world something by it.
    pub const fn is_output(call: u32) -> bool {
        matches!(call, WRITE | WRITEV | SEND | SENDTO | SENDMSG | CONNECT | SHUTDOWN)
    }

    /// Whether it writes, so that how much depends on the program.
    pub const fn writes(call: u32) -> bool {
        matches!(call, WRITE | WRITEV | SEND | SENDTO | SENDMSG)
    }
}

/// What the program asked for.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// One of [`call`]; 0 while the rest is being filled in.
    pub call: u32,
    /// The descriptor; -1 for several.
    pub file: i32,
    /// How many bytes, descriptors or events at most; or the call's flags, if it has no size.
    pub size: u64,
}

/// What one call gave.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// What was asked for.
    pub asked: Asked,
    /// The process, by its entry.
    pub process: u32,
    /// Kept: the thread's number. Fed back: its entry among the schedule's names.
    pub thread: u32,
    /// What the call returned.
    pub result: i64,
    /// And `errno`, if that was an error.
    pub error: u32,
    /// Bytes that follow.
    pub len: u32,
    /// Events of all threads before it came.
    pub steps: u64,
    /// What the program had told the world before it came: so many calls.
    pub told: u64,
    /// The time since the start, in nanoseconds.
    pub clock: u64,
}

/// The head of the rooms.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Inputs {
    /// Bytes in the first room.
    pub fed: AtomicU64,
    /// Bytes in the second room.
    pub kept: AtomicU64,
    /// Inputs for which there was no room.
    pub lost: AtomicU64,
    /// Inputs that were fed back.
    pub used: AtomicU64,
    /// 1 if the program asked for something else than what is to be fed back; 2 when the rest says
    /// what.
    pub parted: AtomicU32,
    /// The thread that did, by its entry among the schedule's names.
    pub thread: AtomicU32,
    /// Which of its inputs that is, from 0.
    pub index: AtomicU64,
    /// What was to come; nothing if there is no more.
    pub expected: Asked,
    /// What was asked for.
    pub actual: Asked,
}

/// Where the next input begins after one with `len` bytes.
pub const fn size(len: usize) -> usize {
    size_of::<Input>() + len.next_multiple_of(8)
}

const _: () = {
    assert!(size_of::<Input>() == 64);
    assert!(size_of::<Inputs>() == 4096);
};
