//! Memory and string functions: compilers leave calls of them as they are, and libc is not
//! instrumented, so what they read and write is seen here.

use core::ffi::c_int;

use norn_abi::{Kind, codec::Content};

use super::interpose;
use crate::{
    block::{copy, fill, touch},
    real, thread,
};

unsafe fn read(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the real function has read or will read these bytes.
        unsafe { touch(slot, Kind::RangeRead, addr, len, pc, Content::Now) };
    }
}

unsafe fn wrote(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the real function has written these bytes.
        unsafe { touch(slot, Kind::RangeWrite, addr, len, pc, Content::Now) };
    }
}

/// How many bytes a comparison of two blocks looks at: up to the first difference.
unsafe fn compared(a: usize, b: usize, most: usize, text: bool) -> usize {
    for i in 0..most {
        // SAFETY: the comparison itself looks at these bytes.
        let (x, y) = unsafe { (*((a + i) as *const u8), *((b + i) as *const u8)) };
        if x != y || text && x == 0 {
            return i + 1;
        }
    }
    most
}

unsafe fn compare(a: usize, b: usize, most: usize, text: bool, pc: usize) {
    if thread::recorded().is_some() {
        // SAFETY: as the caller called it.
        unsafe {
            let len = compared(a, b, most, text);
            read(a, len, pc);
            read(b, len, pc);
        }
    }
}

unsafe extern "C" fn memcmp(a: usize, b: usize, len: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        compare(a, b, len, false, pc);
        real::memcmp()(a, b, len)
    }
}

unsafe extern "C" fn strcmp(a: usize, b: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        compare(a, b, usize::MAX, true, pc);
        real::strcmp()(a, b)
    }
}

unsafe extern "C" fn strncmp(a: usize, b: usize, most: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        compare(a, b, most, true, pc);
        real::strncmp()(a, b, most)
    }
}

unsafe extern "C" fn strlen(text: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        let len = real::strlen()(text);
        read(text, len + 1, pc);
        len
    }
}

unsafe extern "C" fn strcpy(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        let len = real::strlen()(from) + 1;
        read(from, len, pc);
        real::strcpy()(to, from);
        wrote(to, len, pc);
    }
    to
}

unsafe extern "C" fn strncpy(to: usize, from: usize, len: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        let mut text = 0;
        while text < len && *((from + text) as *const u8) != 0 {
            text += 1;
        }
        read(from, (text + 1).min(len), pc);
        real::strncpy()(to, from, len);
        wrote(to, len, pc);
    }
    to
}

unsafe extern "C" fn strcat(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        let (old, more) = (real::strlen()(to), real::strlen()(from) + 1);
        read(to, old + 1, pc);
        read(from, more, pc);
        real::strcat()(to, from);
        wrote(to + old, more, pc);
    }
    to
}

interpose! {
    memcpy(3) => copy;
    memmove(3) => copy;
    memset(3) => fill;
    memcmp(3) => memcmp;
    strlen(1) => strlen;
    strcmp(2) => strcmp;
    strncmp(3) => strncmp;
    strcpy(2) => strcpy;
    strncpy(3) => strncpy;
    strcat(2) => strcat;
}
