//! Calls on sockets that differ from the calls on other files.

use core::ffi::c_int;

use norn_abi::input::call;

use super::{
    interpose, interpose_six,
    io::{Awaited, FileCall, IN, OUT, call_time, controlled, until, when_ready},
};
use crate::{
    block, channel,
    control::{self, NEVER},
    input::{self, Call, Memory},
    real, sys, thread,
};

/// Defines functions that do not block, with the memory that they write.
macro_rules! quick {
    ($($name:ident($($arg:ident: $type:ty),*), $call:ident, $size:expr, $memory:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let call = Call::new(call::$call, file, $size, pc);
                let real = || {
                    let result = real::$name()(file, $($arg),*) as isize;
                    control::look_again();
                    result
                };
                call.make(|| input::is_socket(file), $memory, real) as c_int
            }
        }
    )* };
}

quick! {
    bind(address: usize, len: u32), BIND, len as usize, |_| Memory::NONE;
    listen(most: c_int), LISTEN, most as usize, |_| Memory::NONE;
    getsockname(address: usize, len: usize), GETSOCKNAME, 0, input::name(address, len);
    getpeername(address: usize, len: usize), GETPEERNAME, 0, input::name(address, len);
    getsockopt(level: c_int, option: c_int, value: usize, len: usize),
        GETSOCKOPT, option as usize, input::name(value, len);
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn shutdown(file: c_int, how: c_int, pc: usize) -> c_int {
    const RECEIVING: c_int = 0;
    let call = Call::new(call::SHUTDOWN, file, how as usize, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        channel::usage::touch(file, pc);
        if how != RECEIVING {
            channel::end(file, pc);
        }
        let real = || {
            let result = real::shutdown()(file, how) as isize;
            control::look_again();
            result
        };
        call.make(|| input::is_socket(file), |_| Memory::NONE, real) as c_int
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn connect(file: c_int, address: usize, len: u32, pc: usize) -> c_int {
    let call = Call::new(call::CONNECT, file, len as usize, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = || wait_connect(file, address, len, pc) as isize;
        channel::connect(file, (address, len as usize), pc, || {
            call.make(|| input::is_socket(file), |_| Memory::NONE, real) as c_int
        })
    }
}

/// Connects a socket. In a controlled run the call is made without blocking, and the thread waits in the
/// scheduler for the other side.
///
/// # Safety
/// As for `connect`.
unsafe fn wait_connect(file: c_int, address: usize, len: u32, pc: usize) -> c_int {
    const EAGAIN: u64 = 11;
    const IN_PROGRESS: u64 = 115;
    const ERROR: usize = 4;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled() else { return real::connect()(file, address, len) };
        if sys::is_nonblocking(file) {
            let result = real::connect()(file, address, len);
            control::look_again();
            return result;
        }
        let mut result = -1;
        // A queue of connections that is full.
        let called = until(
            slot,
            pc,
            (NEVER, false),
            || Awaited::Outside,
            || {
                result = sys::without_blocking(file, || real::connect()(file, address, len));
                result == 0 || real::errno() != EAGAIN
            },
        );
        control::look_again();
        if !called || result == 0 || real::errno() != IN_PROGRESS {
            return if called { result } else { -1 };
        }
        let made = || sys::is_ready(file, OUT);
        if !until(slot, pc, (NEVER, false), || Awaited::Outside, made) {
            return -1;
        }
        match input::descriptor::option(file, ERROR) {
            Some(0) | None => 0,
            Some(error) => {
                *real::__errno_location() = error;
                -1
            }
        }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    files: usize,
    _pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let result = real::socketpair()(domain, kind, protocol, files);
        if result == 0 && thread::recorded().is_some() {
            let [first, second] = *(files as *const [c_int; 2]);
            channel::socket::pair(first, second);
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C-unwind" fn recvfrom(
    file: c_int,
    buffer: usize,
    size: usize,
    flags: c_int,
    address: usize,
    len: usize,
    pc: usize,
) -> isize {
    let (call, since) = (Call::new(call::RECVFROM, file, size, pc), call_time());
    // SAFETY: guaranteed by the caller.
    unsafe {
        block::filled_by((buffer, size), pc, |buffer| {
            let real = || {
                let real = || real::recvfrom()(file, buffer, size, flags, address, len);
                when_ready(FileCall { file, events: IN, flags, since }, pc, real)
            };
            let memory = input::named_buffer((buffer, size), address, len);
            channel::receive(file, (buffer, size), flags, pc, || {
                call.make(|| input::is_outside(file), memory, real)
            })
        })
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sendto(
    file: c_int,
    buffer: usize,
    size: usize,
    flags: c_int,
    address: usize,
    len: u32,
    pc: usize,
) -> isize {
    let (call, since) = (Call::new(call::SENDTO, file, size, pc), call_time());
    // SAFETY: guaranteed by the caller.
    unsafe {
        block::read_by((buffer, size), pc, |buffer| {
            let real = || {
                let real = || real::sendto()(file, buffer, size, flags, address, len);
                when_ready(FileCall { file, events: OUT, flags, since }, pc, real)
            };
            channel::send(file, (address, len as usize), buffer, pc, || {
                call.make(|| input::is_socket(file), |_| Memory::NONE, real)
            })
        })
    }
}

interpose! {
    bind(3) => bind;
    listen(2) => listen;
    shutdown(2) => shutdown;
    getsockname(3) => getsockname;
    getpeername(3) => getpeername;
    getsockopt(5) => getsockopt;
    connect(3) => connect;
    socketpair(4) => socketpair;
}

interpose_six! {
    recvfrom => recvfrom;
    sendto => sendto;
}
