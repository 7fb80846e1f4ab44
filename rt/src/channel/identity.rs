//! Which object of the kernel a descriptor leads to.
//!
//! The kernel is asked at each call: a descriptor may be closed, duplicated or passed on by code that
//! the runtime does not see. A pipe is its device and inode, an event counter the number that the kernel
//! shows in `/proc`, a timer its descriptor. Sockets are in [`super::socket`].

use core::mem::MaybeUninit;

use super::{socket, watch};
use crate::{control::mix, input::descriptor, sys};

/// What something is the identity of. Part of a key, so that no two kinds share one.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Tag {
    Pipe = 1,
    Event,
    Timer,
    /// One direction of a connection.
    Stream,
    /// A connection, by its ports or by the socket that asked for it.
    Connection,
    /// Messages to an address.
    Datagram,
    /// Connections to an address that are not accepted yet.
    Accept,
    /// A socket that is not connected, by its inode.
    Socket,
    /// What is known of a socket, by its inode.
    Known,
    /// How many connections to an address were asked for, and accepted.
    Asked,
    Accepted,
    /// The socket that asked for a connection to an address.
    Pending,
    /// A file that an epoll instance watches, by the program's data; and the data by file.
    Watched,
    WatchedData,
    Futex,
    /// A child process.
    Process,
    /// The ends of the signal handlers on a thread. The number before it is that of signals, whose
    /// keys are made by [`norn_abi::signal`].
    Handled = 18,
    /// The cancellation of a thread.
    Cancel,
    /// The changes of watched files.
    Watch,
    /// A lock on a file, a message queue; a set of semaphores and a queue of System V.
    FileLock,
    Semaphores,
    Messages,
}

/// A number for something that two numbers identify.
pub fn key(tag: Tag, first: u64, second: u64) -> u64 {
    (tag as u64) << 56 | mix(first ^ mix(second ^ (tag as u64) << 32)) >> 8
}

/// What a channel is counted in.
#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    Bytes,
    Messages,
    /// The sum of 8-byte numbers.
    Count,
    /// It has no queue: what was set last counts.
    State,
    /// Signals, each with a channel of its own.
    Signals,
}

/// The channels that a descriptor receives from and sends to.
#[derive(Clone, Copy)]
pub struct Ends {
    pub input: u64,
    pub output: u64,
    pub unit: Unit,
}

impl Ends {
    pub fn both(channel: u64, unit: Unit) -> Ends {
        Ends { input: channel, output: channel, unit }
    }
}

/// The channels of a descriptor. None for files, devices, and for pipes and sockets with which the
/// program was started: their other ends belong to other processes.
pub fn ends(file: i32) -> Option<Ends> {
    let found = descriptor::look(file)?;
    match found.kind {
        descriptor::PIPE | descriptor::SOCKET if descriptor::is_inherited(found.inode) => None,
        descriptor::PIPE => {
            Some(Ends::both(key(Tag::Pipe, found.device, found.inode), Unit::Bytes))
        }
        descriptor::SOCKET => Some(socket::ends(file, found.inode)),
        0 => anonymous(file),
        _ => None,
    }
}

/// The channels of a descriptor without a file: all of these have the same inode, but the kernel
/// describes them in `/proc`.
fn anonymous(file: i32) -> Option<Ends> {
    if let Some(channel) = watch::channel(file) {
        return Some(Ends::both(channel, Unit::Bytes));
    }
    fd_info(file, |info| match info {
        FdInfo::Event(Some(number)) => Some(Ends::both(key(Tag::Event, number, 0), Unit::Count)),
        FdInfo::Event(None) => Some(Ends::both(key(Tag::Event, file as u64, 1), Unit::Count)),
        FdInfo::Timer => Some(Ends::both(key(Tag::Timer, file as u64, 0), Unit::State)),
        FdInfo::Other(text) => {
            let first = signals(text)?.trailing_zeros() as i32 + 1;
            Some(Ends::both(super::signal::of_signal(first, None), Unit::Signals))
        }
    })
}

/// What the kernel says of a descriptor without a file.
pub enum FdInfo<'a> {
    /// An event counter, with its number if the kernel shows it.
    Event(Option<u64>),
    /// A timer.
    Timer,
    /// Something else, with its description.
    Other(&'a [u8]),
}

/// Maximum length of the description of a descriptor.
pub const INFO_LEN: usize = 2000;

/// Passes on what the kernel says of a descriptor without a file, in `/proc/self/fdinfo`.
pub fn fd_info<T>(file: i32, f: impl FnOnce(FdInfo<'_>) -> T) -> T {
    let path = descriptor::proc_path(b"/proc/self/fdinfo/", file);
    let opened = core::ffi::CStr::from_bytes_until_nul(&path).ok().and_then(sys::open);
    let Some(opened) = opened else { return f(FdInfo::Other(&[])) };
    // Not initialised: the compiler would call `memset`, which the runtime intercepts.
    let mut text = MaybeUninit::<[u8; INFO_LEN]>::uninit();
    // SAFETY: the kernel fills the first bytes, and only those are used.
    let text = unsafe {
        let len = sys::read_to(opened, text.as_mut_ptr().cast(), INFO_LEN);
        core::slice::from_raw_parts(text.as_ptr().cast::<u8>(), len)
    };
    sys::close(opened);
    f(match () {
        () if after(text, b"eventfd-count:").is_some() => {
            FdInfo::Event(after(text, b"eventfd-id: ").map(number))
        }
        () if after(text, b"clockid: ").is_some() => FdInfo::Timer,
        () => FdInfo::Other(text),
    })
}

/// The decimal number at the beginning of a text.
pub fn number(text: &[u8]) -> u64 {
    let digits = text.iter().take_while(|it| it.is_ascii_digit());
    digits.fold(0, |number, it| number.wrapping_mul(10).wrapping_add(u64::from(it - b'0')))
}

/// The signals of a `signalfd`, by its description; none if it has none, or is something else.
pub fn signals(text: &[u8]) -> Option<u64> {
    let digits = after(text, b"sigmask:\t")?;
    let digits = digits.iter().map_while(|it| char::from(*it).to_digit(16));
    Some(digits.fold(0u64, |set, it| set << 4 | u64::from(it))).filter(|it| *it != 0)
}

/// What follows a word.
pub fn after<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let at = (0..text.len()).find(|at| text[*at..].starts_with(word))?;
    text.get(at + word.len()..)
}
