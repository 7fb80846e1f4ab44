//! System calls that may block. In a controlled run a call is made when it will not block. Until
//! then the thread waits in the scheduler, as it does for a lock, and checks again when another
//! thread has operated on files, or when no other thread can run.
//!
//! What these calls read and write is not recorded as memory accesses: the kernel makes them. But
//! input from outside can be recorded and replayed ([`input`]).

use core::{ffi::c_int, sync::atomic::Ordering};

use norn_abi::{arena::ThreadSlot, input::call};

use super::interpose;
use crate::{
    arena,
    control::{self, Interruption, NEVER},
    input::{self, Call, Memory, Message, name},
    real, sys, thread,
};

pub(super) const IN: i16 = 1;
pub(super) const OUT: i16 = 4;

/// The current thread's slot, if it is controlled and so must not block.
pub(super) fn controlled() -> Option<*mut ThreadSlot> {
    if control::is_on() { thread::recorded() } else { None }
}

/// Waits until `ready` holds or the deadline passes. Returns false if a signal interrupted the wait
/// and the call is not restarted after that signal, or after any signal if `always`.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub(super) unsafe fn until(
    slot: *mut ThreadSlot,
    pc: usize,
    (deadline, always): (u64, bool),
    mut ready: impl FnMut() -> bool,
) -> bool {
    const EINTR: c_int = 4;
    // SAFETY: the slot is the current thread's.
    unsafe {
        while !ready() && control::is_on() {
            if control::block_outside(slot, pc, deadline) {
                ready();
                break;
            }
            control::test_cancel(slot);
            match control::take_interrupted(slot) {
                Interruption::No => {}
                Interruption::Restarts if !always => {}
                _ => {
                    *real::__errno_location() = EINTR;
                    return false;
                }
            }
        }
    }
    true
}

/// Maximum time that a call on a file waits, in nanoseconds; 0 if it does not wait at all.
fn patience(file: c_int, events: i16, flags: c_int) -> Option<u64> {
    const DO_NOT_WAIT: c_int = 0x40;
    if flags & DO_NOT_WAIT != 0 {
        return Some(0);
    }
    sys::time_limit(file, events == IN)
}

/// Waits until a call on a file will not block; `flags` are those of the call, if it has any.
/// Returns false if the call must not be made; `errno` is set then.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn may_call(file: c_int, events: i16, flags: c_int, pc: usize) -> bool {
    const EAGAIN: c_int = 11;
    let Some(slot) = controlled() else { return true };
    let ready = || sys::is_ready(file, events);
    if ready() {
        return true;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let deadline = match patience(file, events, flags) {
            Some(0) => return true,
            Some(length) => control::time::now().saturating_add(length),
            None => NEVER,
        };
        if !until(slot, pc, (deadline, deadline != NEVER), ready) {
            return false;
        }
        let late = deadline != NEVER && !ready();
        if late {
            *real::__errno_location() = EAGAIN;
        }
        !late
    }
}

/// Makes a call on a file when the file is ready, or at once if the call will not block anyway.
///
/// # Safety
/// `real` makes the call on the file that the program requested.
pub(super) unsafe fn when_ready(
    (file, events, flags): (c_int, i16, c_int),
    pc: usize,
    real: impl FnOnce() -> isize,
) -> isize {
    // SAFETY: guaranteed by the caller.
    if unsafe { !may_call(file, events, flags, pc) } {
        return -1;
    }
    let result = real();
    if control::is_on() {
        if events == IN && input::is_outside(file) {
            arena::outcome().inputs.fetch_add(1, Ordering::Relaxed);
        }
        control::look_again();
    }
    result
}

/// Defines functions that read from a file: their flags, the size, and the memory they write.
macro_rules! reads {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty, $flags:expr, $call:ident, $size:expr, $memory:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        pub(super) unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> $out {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let call = Call::new(call::$call, file, $size, pc);
                let real = || {
                    let real = || real::$name()(file, $($arg),*) as isize;
                    when_ready((file, IN, $flags), pc, real)
                };
                call.make(|| input::is_outside(file), $memory, real) as $out
            }
        }
    )* };
}

reads! {
    read(buffer: usize, len: usize) -> isize, 0, READ, len,
        |it| Memory::filled(buffer, len, it);
    readv(blocks: usize, count: c_int) -> isize, 0, READV, input::blocks_len(blocks, count as usize),
        |it| Memory::NONE.with_blocks(blocks, count as usize, it);
    pread(buffer: usize, len: usize, offset: i64) -> isize, 0, PREAD, len,
        |it| Memory::filled(buffer, len, it);
    recv(buffer: usize, len: usize, flags: c_int) -> isize, flags, RECV, len,
        |it| Memory::filled(buffer, len, it);
    recvmsg(message: usize, flags: c_int) -> isize, flags, RECVMSG, Message::len(message),
        Message::memory(message);
    accept(address: usize, len: usize) -> c_int, 0, ACCEPT, 0, name(address, len);
    accept4(address: usize, len: usize, flags: c_int) -> c_int, 0, ACCEPT, flags as usize,
        name(address, len);
}

/// Defines functions that write to a file: their flags and the size.
macro_rules! writes {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty, $flags:expr, $call:ident, $size:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> $out {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let call = Call::new(call::$call, file, $size, pc);
                let real = || {
                    when_ready((file, OUT, $flags), pc, || real::$name()(file, $($arg),*))
                };
                call.make(|| input::is_socket(file), |_| Memory::NONE, real)
            }
        }
    )* };
}

writes! {
    write(buffer: usize, len: usize) -> isize, 0, WRITE, len;
    writev(blocks: usize, count: c_int) -> isize, 0, WRITEV, input::blocks_len(blocks, count as usize);
    send(buffer: usize, len: usize, flags: c_int) -> isize, flags, SEND, len;
    sendmsg(message: usize, flags: c_int) -> isize, flags, SENDMSG, Message::len(message);
}

/// Defines functions for several messages; what they read or write is not kept for replay.
macro_rules! many {
    ($($name:ident($($arg:ident: $type:ty),*), $events:expr, $flags:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let real = || real::$name()(file, $($arg),*) as isize;
                when_ready((file, $events, $flags), pc, real) as c_int
            }
        }
    )* };
}

many! {
    recvmmsg(messages: usize, count: u32, flags: c_int, time: usize), IN, flags;
    sendmmsg(messages: usize, count: u32, flags: c_int), OUT, flags;
}

/// Defines a function after which other threads may find files ready.
macro_rules! noisy {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name($($arg: $type,)* _pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let result = real::$name()($($arg),*);
                control::look_again();
                result
            }
        }
    )* };
}

noisy! {
    close(file: c_int);
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn waitpid(
    process: c_int,
    status: usize,
    options: c_int,
    pc: usize,
) -> c_int {
    const NO_HANG: c_int = 1;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| options & NO_HANG == 0) else {
            return real::waitpid()(process, status, options);
        };
        let (mut result, mut waited) = (0, false);
        let called = until(slot, pc, (NEVER, false), || {
            result = real::waitpid()(process, status, options | NO_HANG);
            if result == 0 && !core::mem::replace(&mut waited, true) {
                control::verdict::away();
            }
            result != 0
        });
        if called { result } else { -1 }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn wait(status: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { waitpid(-1, status, 0, pc) }
}

/// Defines a function that may block and has no non-blocking form: it runs without the turn.
macro_rules! blocking {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name($($arg: $type,)* _pc: usize) -> $out {
            // SAFETY: guaranteed by the caller.
            unsafe { control::outside(|| real::$name()($($arg),*)) }
        }
    )* };
}

blocking! {
    sigwait(set: usize, signal: usize) -> c_int;
    sigwaitinfo(set: usize, info: usize) -> c_int;
    sigsuspend(mask: usize) -> c_int;
    pause() -> c_int;
    flock(file: c_int, operation: c_int) -> c_int;
}

interpose! {
    read(3) => read;
    readv(3) => readv;
    pread(4) => pread;
    pread64(4) => pread;
    recv(4) => recv;
    recvmsg(3) => recvmsg;
    recvmmsg(5) => recvmmsg;
    accept(3) => accept;
    accept4(4) => accept4;
    write(3) => write;
    writev(3) => writev;
    send(4) => send;
    sendmsg(3) => sendmsg;
    sendmmsg(4) => sendmmsg;
    close(1) => close;
    waitpid(3) => waitpid;
    wait(1) => wait;
    sigwait(2) => sigwait;
    sigwaitinfo(2) => sigwaitinfo;
    sigsuspend(1) => sigsuspend;
    pause(0) => pause;
    flock(2) => flock;
}
