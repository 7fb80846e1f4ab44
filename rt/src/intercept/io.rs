//! System calls that may block. In a controlled run a call is made when it will not block. Until
//! then the thread waits in the scheduler, as it does for a lock, and checks again when another
//! thread has operated on files, or when no other thread can run. A file that only the program's own
//! threads operate on ([`channel::internal`]) is like a lock also in that a thread which waits for it
//! may be part of a deadlock; a wait for anything else is one for the outside.
//!
//! What goes through pipes, sockets and the like is recorded, because it orders threads ([`channel`]).
//! The buffer that a call reads or writes is recorded as accessed; calls with several buffers are in
//! [`super::vector`]. Input from outside can be recorded and replayed ([`input`]).

use core::{ffi::c_int, sync::atomic::Ordering};

use norn_abi::{Kind, arena::ThreadSlot, input::call};

use super::{chance, interpose, kernel_lock};
use crate::{
    arena, block, channel,
    control::{self, Event, Interruption, NEVER},
    input::{self, Call, Memory, name},
    real, sys, thread,
};

pub(super) const IN: i16 = 1;
pub(super) const OUT: i16 = 4;

/// The current thread's slot, if it is controlled and so must not block.
pub(super) fn controlled() -> Option<*mut ThreadSlot> {
    if control::is_on() { thread::recorded() } else { None }
}

/// What a call waits for.
#[derive(Clone, Copy)]
pub(super) enum Awaited {
    /// Something outside of the program.
    Outside,
    /// Nothing but the time.
    Time,
    /// A file of the program's own: the kind of event that the call is, and its channel.
    File(Kind, usize),
}

/// Waits until `ready` holds or the deadline passes; `awaited` is asked when it does not hold. Returns
/// false if a signal interrupted the wait and the call is not restarted after that signal, or after any
/// signal if `always`.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub(super) unsafe fn until(
    slot: *mut ThreadSlot,
    pc: usize,
    (deadline, always): (u64, bool),
    awaited: impl Fn() -> Awaited,
    mut ready: impl FnMut() -> bool,
) -> bool {
    const EINTR: c_int = 4;
    // SAFETY: the slot is the current thread's.
    unsafe {
        while !ready() && control::is_on() {
            let late = match awaited() {
                Awaited::Outside => control::block_outside(slot, pc, deadline),
                Awaited::Time => control::block(slot, Kind::Sleep, 0, pc, deadline),
                Awaited::File(kind, object) => {
                    control::block_on_file(slot, Event { kind, object, pc }, deadline)
                }
            };
            if late {
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

/// The virtual time at which a call begins. It must be taken before the scheduler is asked whether the
/// call may be made: else a timeout would depend on when the thread is chosen again. 0 if the run is
/// not controlled.
pub(super) fn call_time() -> u64 {
    if control::is_on() { control::time::now() } else { 0 }
}

/// Maximum time that a call on a file waits, in nanoseconds; 0 if it does not wait at all.
fn patience(file: c_int, events: i16, flags: c_int) -> Option<u64> {
    const DO_NOT_WAIT: c_int = 0x40;
    if flags & DO_NOT_WAIT != 0 {
        return Some(0);
    }
    sys::time_limit(file, events == IN)
}

/// A call on a file that may have to wait.
#[derive(Clone, Copy)]
pub(super) struct FileCall {
    pub(super) file: c_int,
    /// What it waits for: [`IN`] or [`OUT`].
    pub(super) events: i16,
    /// The flags of the call, if it has any.
    pub(super) flags: c_int,
    /// When it begins, by [`call_time`].
    pub(super) since: u64,
}

/// Waits until a call on a file will not block. Returns false if the call must not be made; `errno` is set then.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn may_call(call: FileCall, pc: usize) -> bool {
    const EAGAIN: c_int = 11;
    let FileCall { file, events, flags, since } = call;
    let Some(slot) = controlled() else { return true };
    let ready = || sys::is_ready(file, events);
    if ready() {
        return true;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let deadline = match patience(file, events, flags) {
            Some(0) => return true,
            Some(length) => since.saturating_add(length),
            None => NEVER,
        };
        let awaited = || match channel::internal::channel(file, events == IN) {
            Some(channel) if events == IN => Awaited::File(Kind::Receive, channel as usize),
            Some(channel) => Awaited::File(Kind::Send, channel as usize),
            None => Awaited::Outside,
        };
        if !until(slot, pc, (deadline, deadline != NEVER), awaited, ready) {
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
pub(super) unsafe fn when_ready(call: FileCall, pc: usize, real: impl FnOnce() -> isize) -> isize {
    // SAFETY: guaranteed by the caller.
    if unsafe { !may_call(call, pc) } {
        return -1;
    }
    let result = real();
    if control::is_on() {
        if call.events == IN && input::is_outside(call.file) {
            arena::outcome().inputs.fetch_add(1, Ordering::Relaxed);
        }
        control::look_again();
    }
    result
}

/// Defines functions that read from a file into one buffer, with their flags.
macro_rules! reads {
    ($($name:ident($($arg:ident: $type:ty),*), $flags:expr, $call:ident;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        pub(super) unsafe extern "C-unwind" fn $name(
            file: c_int,
            buffer: usize,
            len: usize,
            $($arg: $type,)*
            pc: usize,
        ) -> isize {
            let (call, since) = (Call::new(call::$call, file, len, pc), call_time());
            // SAFETY: guaranteed by the caller.
            unsafe {
                block::filled_by((buffer, len), pc, |buffer| {
                    let real = || {
                        let real = || {
                            let random = chance::read_device(file, buffer, len);
                            random.unwrap_or_else(|| real::$name()(file, buffer, len, $($arg),*))
                        };
                        when_ready(FileCall { file, events: IN, flags: $flags, since }, pc, real)
                    };
                    channel::receive(file, (buffer, len), $flags, pc, || {
                        let memory = |it| Memory::filled(buffer, len, it);
                        call.make(|| input::is_outside(file), memory, real)
                    })
                })
            }
        }
    )* };
}

reads! {
    read(), 0, READ;
    pread(offset: i64), 0, PREAD;
    recv(flags: c_int), flags, RECV;
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn accept(file: c_int, address: usize, len: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { accept4(file, address, len, 0, pc) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn accept4(
    file: c_int,
    address: usize,
    len: usize,
    flags: c_int,
    pc: usize,
) -> c_int {
    let (call, since) = (Call::new(call::ACCEPT, file, flags as usize, pc), call_time());
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = || {
            let real = || real::accept4()(file, address, len, flags) as isize;
            when_ready(FileCall { file, events: IN, flags: 0, since }, pc, real)
        };
        channel::accept(file, pc, || {
            call.make(|| input::is_outside(file), name(address, len), real) as c_int
        })
    }
}

/// Defines functions that write one buffer to a file, with their flags.
macro_rules! writes {
    ($($name:ident($($arg:ident: $type:ty),*), $flags:expr, $call:ident;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        pub(super) unsafe extern "C-unwind" fn $name(
            file: c_int,
            buffer: usize,
            len: usize,
            $($arg: $type,)*
            pc: usize,
        ) -> isize {
            let (call, since) = (Call::new(call::$call, file, len, pc), call_time());
            // SAFETY: guaranteed by the caller.
            unsafe {
                block::read_by((buffer, len), pc, |buffer| {
                    let real = || {
                        let real = || {
                            channel::watch::writing(file, pc, || {
                                real::$name()(file, buffer, len, $($arg),*)
                            })
                        };
                        when_ready(FileCall { file, events: OUT, flags: $flags, since }, pc, real)
                    };
                    channel::send(file, (0, 0), buffer, pc, || {
                        call.make(|| input::is_socket(file), |_| Memory::NONE, real)
                    })
                })
            }
        }
    )* };
}

writes! {
    write(), 0, WRITE;
    pwrite(offset: i64), 0, WRITE;
    send(flags: c_int), flags, SEND;
}

/// Other threads may find files ready afterwards.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn close(file: c_int, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        channel::watch::remove(file);
        channel::end(file, pc);
        kernel_lock::close(file, pc);
        // No other event comes between this one and the call.
        channel::usage::close(file, pc);
        let result = channel::watch::closing(pc, || real::close()(file));
        control::look_again();
        result
    }
}

interpose! {
    read(3) => read;
    pread(4) => pread;
    pread64(4) => pread;
    recv(4) => recv;
    accept(3) => accept;
    accept4(4) => accept4;
    write(3) => write;
    pwrite(4) => pwrite;
    pwrite64(4) => pwrite;
    send(4) => send;
    close(1) => close;
}
