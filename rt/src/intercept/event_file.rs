//! Event counters. Libc has functions of its own for counters, which do not call
//! the intercepted `read` and `write`.

use core::ffi::c_int;

use super::{
    interpose,
    io::{read, write},
};

const SIZE: usize = size_of::<u64>();

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn eventfd_read(file: c_int, value: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    let len = unsafe { read(file, value, SIZE, pc) };
    if len == SIZE as isize { 0 } else { -1 }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn eventfd_write(file: c_int, value: u64, pc: usize) -> c_int {
    // SAFETY: the value is on the stack.
    let len = unsafe { write(file, &raw const value as usize, SIZE, pc) };
    if len == SIZE as isize { 0 } else { -1 }
}

interpose! {
    eventfd_read(2) => eventfd_read;
    eventfd_write(2) => eventfd_write;
}
