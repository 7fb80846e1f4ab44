//! Calls on a file with several buffers (`struct iovec`), and with messages that consist of several.
//!
//! The buffers are recorded as accessed. What a call reads is recorded before it, and another thread may
//! run in between; what it writes is recorded after it, as far as its result says that it was written.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, input::call, lane::Content};

use super::{
    interpose,
    io::{FileCall, IN, OUT, call_time, when_ready},
};
use crate::{
    block, channel,
    input::{self, Call, Memory, Message},
    real, thread,
};

/// Stands for a list of buffers.
const PIECES: (usize, usize) = (0, 1);
/// Largest number of buffers that the kernel accepts.
const MOST: usize = 1024;

/// One buffer of a list: `struct iovec`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Buffer {
    start: usize,
    len: usize,
}

/// A list of buffers, and how many it has.
#[derive(Clone, Copy)]
struct Buffers(usize, usize);

impl Buffers {
    /// Calls `f` for the buffers, up to `most` bytes in total.
    ///
    /// # Safety
    /// The list has as many buffers as it says.
    unsafe fn each(self, most: usize, mut f: impl FnMut(Buffer)) {
        let mut rest = most;
        for at in 0..if self.0 == 0 || self.1 > MOST { 0 } else { self.1 } {
            // SAFETY: guaranteed by the caller.
            let buffer = unsafe { *(self.0 as *const Buffer).add(at) };
            let len = buffer.len.min(rest);
            rest -= len;
            if block::can_read(buffer.start, len) {
                f(Buffer { start: buffer.start, len });
            }
        }
    }

    /// Records that the buffers are about to be read.
    ///
    /// # Safety
    /// The call that follows reads them.
    unsafe fn read(self, pc: usize) {
        let Some(slot) = thread::recorded() else { return };
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.each(usize::MAX, |it| {
                block::touch(slot, Kind::RangeRead, it.start, it.len, pc, Content::Now);
            });
        }
    }

    /// Records that `result` bytes of the buffers were written.
    ///
    /// # Safety
    /// The call that has just returned wrote them.
    unsafe fn wrote(self, slot: *mut ThreadSlot, result: isize, pc: usize) {
        let most = usize::try_from(result).unwrap_or(0);
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.each(most, |it| {
                block::touched(slot, Kind::RangeWrite, it.start, it.len, pc, Content::Now);
            });
        }
    }

    /// Makes a call that fills the buffers, by its result.
    ///
    /// # Safety
    /// The call fills the buffers.
    unsafe fn filled_by(self, pc: usize, call: impl FnOnce() -> isize) -> isize {
        let Some(slot) = thread::recorded() else { return call() };
        // SAFETY: guaranteed by the caller; the slot is the current thread's.
        unsafe {
            // The call may overwrite what the thread wrote last.
            (*slot).lane.settle_any();
            let result = call();
            self.wrote(slot, result, pc);
            result
        }
    }
}

/// The buffers of a message.
///
/// # Safety
/// `message` is null or points to a `struct msghdr`.
unsafe fn of_message(message: usize) -> Buffers {
    // SAFETY: guaranteed by the caller.
    let (start, count) = unsafe { Message::blocks(message) };
    Buffers(start, count)
}

/// Defines functions that read from a file into several buffers: the buffers, the flags, how the call is
/// named in recorded inputs, the size, and the memory that is recorded as input.
macro_rules! scatters {
    ($($name:ident($($arg:ident: $type:ty),*), $buffers:expr, $flags:expr, $call:ident, $size:expr, $memory:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> isize {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let (call, since) = (Call::new(call::$call, file, $size, pc), call_time());
                let buffers = $buffers;
                let real = || {
                    let real = || real::$name()(file, $($arg),*);
                    when_ready(FileCall { file, events: IN, flags: $flags, since }, pc, real)
                };
                buffers.filled_by(pc, || {
                    channel::receive(file, PIECES, $flags, pc, || {
                        call.make(|| input::is_outside(file), $memory, real)
                    })
                })
            }
        }
    )* };
}

scatters! {
    readv(list: usize, count: c_int), Buffers(list, count as usize), 0, READV,
        input::blocks_len(list, count as usize),
        |it| Memory::NONE.with_blocks(list, count as usize, it);
    preadv(list: usize, count: c_int, offset: i64), Buffers(list, count as usize), 0, READV,
        input::blocks_len(list, count as usize),
        |it| Memory::NONE.with_blocks(list, count as usize, it);
    recvmsg(message: usize, flags: c_int), of_message(message), flags, RECVMSG,
        Message::len(message), Message::memory(message);
}

/// Defines functions that write several buffers to a file.
macro_rules! gathers {
    ($($name:ident($($arg:ident: $type:ty),*), $buffers:expr, $flags:expr, $call:ident, $size:expr, $address:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> isize {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let (call, since) = (Call::new(call::$call, file, $size, pc), call_time());
                $buffers.read(pc);
                let real = || {
                    let real = || {
                        channel::watch::writing(file, pc, || real::$name()(file, $($arg),*))
                    };
                    when_ready(FileCall { file, events: OUT, flags: $flags, since }, pc, real)
                };
                channel::send(file, $address, 0, pc, || {
                    call.make(|| input::is_socket(file), |_| Memory::NONE, real)
                })
            }
        }
    )* };
}

gathers! {
    writev(list: usize, count: c_int), Buffers(list, count as usize), 0, WRITEV,
        input::blocks_len(list, count as usize), (0, 0);
    pwritev(list: usize, count: c_int, offset: i64), Buffers(list, count as usize), 0, WRITEV,
        input::blocks_len(list, count as usize), (0, 0);
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sendmsg(file: c_int, message: usize, flags: c_int, pc: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (call, since) =
            (Call::new(call::SENDMSG, file, Message::len(message), pc), call_time());
        if Message::has_control(message) {
            channel::internal::share();
        }
        of_message(message).read(pc);
        let real = || {
            when_ready(FileCall { file, events: OUT, flags, since }, pc, || {
                real::sendmsg()(file, message, flags)
            })
        };
        channel::send(file, Message::address(message), 0, pc, || {
            call.make(|| input::is_socket(file), |_| Memory::NONE, real)
        })
    }
}

// Several messages; what they read or write is not kept for replay. They count as one message: the
// rest seems to come from outside.

/// One of several messages: `struct mmsghdr`.
#[repr(C)]
struct Counted {
    message: [u8; size_of::<Message>()],
    /// How many bytes were sent or received.
    len: u32,
}

/// The address of a message in a list, and how many bytes of it were received.
///
/// # Safety
/// The list has more than `at` messages.
unsafe fn message_at(list: usize, at: usize) -> (usize, u32) {
    const { assert!(size_of::<Counted>().next_multiple_of(8) == 64) };
    let message = list + at * size_of::<Counted>().next_multiple_of(8);
    // SAFETY: guaranteed by the caller.
    (message, unsafe { ((message + size_of::<Message>()) as *const u32).read() })
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn recvmmsg(
    file: c_int,
    messages: usize,
    count: u32,
    flags: c_int,
    time: usize,
    pc: usize,
) -> c_int {
    let since = call_time();
    // SAFETY: guaranteed by the caller.
    unsafe {
        let result = channel::receive(file, PIECES, flags, pc, || {
            let real = || real::recvmmsg()(file, messages, count, flags, time) as isize;
            when_ready(FileCall { file, events: IN, flags, since }, pc, real)
        });
        if let Some(slot) = thread::recorded() {
            for at in 0..usize::try_from(result).unwrap_or(0) {
                let (message, len) = message_at(messages, at);
                of_message(message).wrote(slot, len as isize, pc);
            }
        }
        result as c_int
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sendmmsg(
    file: c_int,
    messages: usize,
    count: u32,
    flags: c_int,
    pc: usize,
) -> c_int {
    let since = call_time();
    // SAFETY: guaranteed by the caller; each entry of the list begins with a message.
    unsafe {
        for at in 0..(count as usize).min(MOST) {
            of_message(message_at(messages, at).0).read(pc);
        }
        channel::send(file, Message::address(messages), 0, pc, || {
            let real = || real::sendmmsg()(file, messages, count, flags) as isize;
            when_ready(FileCall { file, events: OUT, flags, since }, pc, real)
        }) as c_int
    }
}

interpose! {
    readv(3) => readv;
    preadv(4) => preadv;
    preadv64(4) => preadv;
    recvmsg(3) => recvmsg;
    recvmmsg(5) => recvmmsg;
    writev(3) => writev;
    pwritev(4) => pwritev;
    pwritev64(4) => pwritev;
    sendmsg(3) => sendmsg;
    sendmmsg(4) => sendmmsg;
}
