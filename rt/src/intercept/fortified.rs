//! Functions with an additional argument for the size of the buffer, which `_FORTIFY_SOURCE` makes
//! of calls. They behave like the ordinary functions unless the buffer is too small.

use core::ffi::c_int;

use super::{
    interpose_early,
    io::{read, recv},
    poll::{poll, ppoll},
    socket::recvfrom,
    string::{stpcpy, strcat, strcpy, strncat, strncpy},
};
use crate::{
    block::{copy, fill},
    real,
};

/// Ends the program as libc does if `len` bytes do not fit.
///
/// # Safety
/// Called in a libc function with a checked length: the program may be ended.
unsafe fn check(len: usize, room: usize) {
    if len > room {
        // SAFETY: the function does not return.
        unsafe { real::__chk_fail() };
    }
}

/// The length of a string, including its NUL byte.
///
/// # Safety
/// `text` is a C string.
unsafe fn size(text: usize) -> usize {
    // SAFETY: the caller guarantees that it is a C string.
    unsafe { real::strlen()(text) + 1 }
}

/// `name(arguments), len, room => function(arguments)`: calls the function if `len` bytes fit.
macro_rules! checked {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty, $len:expr, $room:ident => $function:ident($($given:ident),*);)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name($($arg: $type,)* pc: usize) -> $out {
            // SAFETY: guaranteed by the caller.
            unsafe {
                check($len, $room);
                $function($($given,)* pc)
            }
        }
    )* };
}

/// Size of `struct pollfd`, which describes one file to `poll`.
const POLLED: usize = 8;

checked! {
    memcpy_chk(to: usize, from: usize, len: usize, room: usize) -> usize, len, room => copy(to, from, len);
    memset_chk(to: usize, byte: c_int, len: usize, room: usize) -> usize, len, room => fill(to, byte, len);
    strcpy_chk(to: usize, from: usize, room: usize) -> usize, size(from), room => strcpy(to, from);
    stpcpy_chk(to: usize, from: usize, room: usize) -> usize, size(from), room => stpcpy(to, from);
    strncpy_chk(to: usize, from: usize, len: usize, room: usize) -> usize, len, room => strncpy(to, from, len);
    strcat_chk(to: usize, from: usize, room: usize) -> usize,
        size(to) - 1 + size(from), room => strcat(to, from);
    read_chk(file: c_int, buffer: usize, len: usize, room: usize) -> isize, len, room => read(file, buffer, len);
    recv_chk(file: c_int, buffer: usize, len: usize, room: usize, flags: c_int) -> isize,
        len, room => recv(file, buffer, len, flags);
    poll_chk(files: usize, count: usize, time: c_int, room: usize) -> c_int,
        count.saturating_mul(POLLED), room => poll(files, count, time);
    ppoll_chk(files: usize, count: usize, time: usize, mask: usize, room: usize) -> c_int,
        count.saturating_mul(POLLED), room => ppoll(files, count, time, mask);
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn strncat_chk(
    to: usize,
    from: usize,
    most: usize,
    room: usize,
    pc: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        check(size(to) + super::string::bounded(from, most), room);
        strncat(to, from, most, pc)
    }
}

// It has seven arguments, one of which is the size of the buffer: without that one, the others are
// moved to where `recvfrom` expects them.
core::arch::global_asm!(
    concat!(".weak ", super::symbol!(__recvfrom_chk)),
    concat!(".type ", super::symbol!(__recvfrom_chk), ",@function"),
    concat!(super::symbol!(__recvfrom_chk), ":"),
    ".cfi_startproc",
    "push qword ptr [rsp]",
    ".cfi_adjust_cfa_offset 8",
    "cmp rdx, rcx",
    "ja 2f",
    "mov rcx, r8",
    "mov r8, r9",
    "mov r9, qword ptr [rsp + 16]",
    "call {recvfrom}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    "2:",
    ".cfi_adjust_cfa_offset 8",
    "call {fail}",
    ".cfi_endproc",
    concat!(".size ", super::symbol!(__recvfrom_chk), ", . - ", super::symbol!(__recvfrom_chk)),
    recvfrom = sym recvfrom,
    fail = sym fail,
);

/// # Safety
/// Ends the program, which the caller intends.
unsafe extern "C" fn fail() {
    // SAFETY: the function does not return.
    unsafe { real::__chk_fail() };
}

interpose_early! {
    __memcpy_chk(4) => memcpy_chk;
    __memmove_chk(4) => memcpy_chk;
    __memset_chk(4) => memset_chk;
    __strcpy_chk(3) => strcpy_chk;
    __stpcpy_chk(3) => stpcpy_chk;
    __strncpy_chk(4) => strncpy_chk;
    __strcat_chk(3) => strcat_chk;
    __strncat_chk(4) => strncat_chk;
    __read_chk(4) => read_chk;
    __recv_chk(5) => recv_chk;
    __poll_chk(4) => poll_chk;
    __ppoll_chk(5) => ppoll_chk;
}
