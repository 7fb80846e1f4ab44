//! Calls on sockets that differ from the calls on other files.

use core::ffi::c_int;

use norn_abi::input::call;

use super::{
    interpose, interpose_six,
    io::{IN, OUT, when_ready},
};
use crate::{
    control,
    input::{self, Call, Memory},
    real,
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
    shutdown(how: c_int), SHUTDOWN, how as usize, |_| Memory::NONE;
    getsockname(address: usize, len: usize), GETSOCKNAME, 0, input::name(address, len);
    getpeername(address: usize, len: usize), GETPEERNAME, 0, input::name(address, len);
    getsockopt(level: c_int, option: c_int, value: usize, len: usize),
        GETSOCKOPT, option as usize, input::name(value, len);
}

/// May block and has no non-blocking form: it runs without the turn.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn connect(file: c_int, address: usize, len: u32, pc: usize) -> c_int {
    let call = Call::new(call::CONNECT, file, len as usize, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = || control::outside(|| real::connect()(file, address, len)) as isize;
        call.make(|| input::is_socket(file), |_| Memory::NONE, real) as c_int
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
    let call = Call::new(call::RECVFROM, file, size, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = || {
            let real = || real::recvfrom()(file, buffer, size, flags, address, len);
            when_ready((file, IN, flags), pc, real)
        };
        call.make(
            || input::is_outside(file),
            input::named_buffer((buffer, size), address, len),
            real,
        )
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
    let call = Call::new(call::SENDTO, file, size, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = || {
            let real = || real::sendto()(file, buffer, size, flags, address, len);
            when_ready((file, OUT, flags), pc, real)
        };
        call.make(|| input::is_socket(file), |_| Memory::NONE, real)
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
}

interpose_six! {
    recvfrom => recvfrom;
    sendto => sendto;
}
