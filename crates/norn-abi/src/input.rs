//! Input of the program from outside, recorded so that it can be replayed.
//!
//! Each [`Input`] is followed by the bytes that the call wrote into the program's memory, padded to
//! a multiple of eight. The runtime appends recorded inputs to one buffer; the tool fills the other
//! with the inputs to replay, thread by thread.
//!
//! ```text
//! [ Inputs | fed: Input, bytes, Input, bytes, .. | kept: Input, bytes, .. ]
//! ```

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Size of the buffer of replayed inputs in bytes, and of that of recorded ones.
pub const ROOM: usize = 64 << 20;
/// Set in [`crate::control::Plan::inputs`]: record input.
pub const KEEP: u32 = 1;
/// Set in [`crate::control::Plan::inputs`]: replay recorded input.
pub const FEED: u32 = 2;

/// The calls that get input: in [`Asked::call`].
pub mod call {
    /// Declares calls and their names.
    macro_rules! calls {
        ($($constant:ident = $code:literal $name:literal,)*) => {
            $(#[doc = concat!("`", $name, "`.")] pub const $constant: u32 = $code;)*
            /// All calls with their names.
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

    /// Whether the call sends data out of the program.
    pub const fn is_output(call: u32) -> bool {
        matches!(call, WRITE | WRITEV | SEND | SENDTO | SENDMSG | CONNECT | SHUTDOWN)
    }

    /// Whether the call writes, so that its size depends on the program.
    pub const fn writes(call: u32) -> bool {
        matches!(call, WRITE | WRITEV | SEND | SENDTO | SENDMSG)
    }
}

/// A request of the program.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// One of [`call`]; 0 while the other fields are being filled in.
    pub call: u32,
    /// The file descriptor; -1 for several.
    pub file: i32,
    /// Maximum number of bytes, descriptors or events; or the call's flags, if it has no size.
    pub size: u64,
}

/// The result of one call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The request.
    pub asked: Asked,
    /// The entry of the process.
    pub process: u32,
    /// Recorded: the thread's number. Replayed: its entry in the schedule's table of threads.
    pub thread: u32,
    /// What the call returned.
    pub result: i64,
    /// `errno`, if the call failed.
    pub error: u32,
    /// Number of bytes that follow.
    pub len: u32,
    /// Number of events of all threads before the call returned.
    pub steps: u64,
    /// Number of output calls of the program before this call returned.
    pub told: u64,
    /// Time since the start of the run, in nanoseconds.
    pub clock: u64,
}

/// The header of the two buffers.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Inputs {
    /// Length of the replayed inputs in bytes.
    pub fed: AtomicU64,
    /// Length of the recorded inputs in bytes.
    pub kept: AtomicU64,
    /// Number of inputs for which the buffer had no room.
    pub lost: AtomicU64,
    /// Number of inputs that were replayed.
    pub used: AtomicU64,
    /// 1 if a request of the program differs from the recorded one; 2 once the fields below are
    /// valid.
    pub parted: AtomicU32,
    /// The thread of this request, by its entry in the schedule's table of threads.
    pub thread: AtomicU32,
    /// The index of the input among those of the thread, from 0.
    pub index: AtomicU64,
    /// The recorded request; all zero if there are no more.
    pub expected: Asked,
    /// The actual request.
    pub actual: Asked,
}

/// The distance from an input with `len` bytes to the next.
pub const fn size(len: usize) -> usize {
    size_of::<Input>() + len.next_multiple_of(8)
}

const _: () = {
    assert!(size_of::<Input>() == 64);
    assert!(size_of::<Inputs>() == 4096);
};
