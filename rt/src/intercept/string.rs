//! Memory and string functions. Compilers do not instrument calls of them, and libc is not
//! instrumented, so their reads and writes are recorded here.

use core::ffi::c_int;

use norn_abi::{Kind, lane::Content};

use super::{alloc::allocated, interpose_early};
use crate::{
    block::{copy, fill, touched, write_from},
    control, real, thread,
};

/// Asks the scheduler before a function reads at `addr`: another thread may run first. The
/// function's reads are then made without a switch in between.
///
/// # Safety
/// The program is about to read at `addr`.
unsafe fn begin(addr: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { control::before(slot, Kind::RangeRead, pc, addr) };
    }
}

/// # Safety
/// `len` bytes can be read at `addr`.
unsafe fn read(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the real function has read these bytes or will read them.
        unsafe { touched(slot, Kind::RangeRead, addr, len, pc, Content::Now) };
    }
}

/// Records that all of a string was read.
///
/// # Safety
/// `text` is a C string.
unsafe fn read_text(text: usize, pc: usize) {
    if thread::recorded().is_some() {
        // SAFETY: the real function has read these bytes or will read them.
        unsafe { read(text, real::strlen()(text) + 1, pc) };
    }
}

/// # Safety
/// The program has written `len` bytes at `addr`.
unsafe fn wrote(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the real function has written these bytes.
        unsafe { touched(slot, Kind::RangeWrite, addr, len, pc, Content::Now) };
    }
}

/// Copies what was read before; another thread may run first.
///
/// # Safety
/// `len` bytes can be read at `from`, and `write` writes them at `to`.
unsafe fn copied(to: usize, from: usize, len: usize, pc: usize, write: impl FnOnce(usize)) {
    match thread::recorded() {
        // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
        Some(slot) => unsafe { write_from(slot, (to, from, len), pc, write) },
        None => write(from),
    }
}

/// Copies `len` bytes that were read before; another thread may run first.
///
/// # Safety
/// `len` bytes can be read at `from` and written at `to`.
unsafe fn copy_text(to: usize, from: usize, len: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        copied(to, from, len, pc, |from| {
            real::memmove()(to, from, len);
        });
        wrote(to, len, pc);
    }
}

/// Number of bytes that a comparison of two blocks reads: up to the first difference.
///
/// # Safety
/// As for `memcmp`, or for `strncmp` of texts.
unsafe fn compared(a: usize, b: usize, most: usize, text: bool) -> usize {
    for i in 0..most {
        // SAFETY: the comparison itself reads these bytes.
        let (x, y) = unsafe { (*((a + i) as *const u8), *((b + i) as *const u8)) };
        if x != y || text && x == 0 {
            return i + 1;
        }
    }
    most
}

/// # Safety
/// As for `memcmp`, or for `strncmp` of texts.
unsafe fn compare(a: usize, b: usize, most: usize, text: bool, pc: usize) {
    if thread::recorded().is_some() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let len = compared(a, b, most, text);
            read(a, len, pc);
            read(b, len, pc);
        }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn memcmp(a: usize, b: usize, len: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(a, pc);
        compare(a, b, len, false, pc);
        real::memcmp()(a, b, len)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn strcmp(a: usize, b: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(a, pc);
        compare(a, b, usize::MAX, true, pc);
        real::strcmp()(a, b)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn strncmp(a: usize, b: usize, most: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(a, pc);
        compare(a, b, most, true, pc);
        real::strncmp()(a, b, most)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn strlen(text: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(text, pc);
        let len = real::strlen()(text);
        read(text, len + 1, pc);
        len
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C" fn strcpy(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(from, pc);
        let len = real::strlen()(from) + 1;
        read(from, len, pc);
        copy_text(to, from, len, pc);
    }
    to
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C" fn stpcpy(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(from, pc);
        let len = real::strlen()(from) + 1;
        read(from, len, pc);
        copy_text(to, from, len, pc);
        to + len - 1
    }
}

/// The length of a string of which at most `most` bytes may be read.
///
/// # Safety
/// `text` is a C string, or `most` bytes of it can be read.
pub(super) unsafe fn bounded(text: usize, most: usize) -> usize {
    let mut len = 0;
    // SAFETY: the program's call of the intercepted function guarantees that these bytes exist.
    while len < most && unsafe { *((text + len) as *const u8) } != 0 {
        len += 1;
    }
    len
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C" fn strncpy(to: usize, from: usize, len: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(from, pc);
        let text = (bounded(from, len) + 1).min(len);
        read(from, text, pc);
        copied(to, from, text, pc, |from| {
            real::strncpy()(to, from, len);
        });
        wrote(to, len, pc);
    }
    to
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C" fn strcat(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(from, pc);
        let (old, more) = (real::strlen()(to), real::strlen()(from) + 1);
        read(to, old + 1, pc);
        read(from, more, pc);
        copy_text(to + old, from, more, pc);
    }
    to
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C" fn strncat(to: usize, from: usize, most: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(from, pc);
        let (old, more) = (real::strlen()(to), bounded(from, most));
        read(to, old + 1, pc);
        read(from, (more + 1).min(most), pc);
        copied(to + old, from, more, pc, |from| {
            real::memmove()(to + old, from, more);
            *((to + old + more) as *mut u8) = 0;
        });
        wrote(to + old, more + 1, pc);
    }
    to
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn memchr(block: usize, byte: c_int, len: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(block, pc);
        let found = real::memchr()(block, byte, len);
        read(block, if found == 0 { len } else { found - block + 1 }, pc);
        found
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn strchr(text: usize, byte: c_int, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(text, pc);
        let found = real::strchr()(text, byte);
        match found {
            0 => read_text(text, pc),
            _ => read(text, found - text + 1, pc),
        }
        found
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C" fn strrchr(text: usize, byte: c_int, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(text, pc);
        read_text(text, pc);
        real::strrchr()(text, byte)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn strdup(text: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { duplicated(text, usize::MAX, pc, || real::strdup()(text)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn strndup(text: usize, most: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { duplicated(text, most, pc, || real::strndup()(text, most)) }
}

/// Records the allocation here, with the program's call site, and not a second time where libc
/// makes it.
///
/// # Safety
/// `text` is a C string, or `most` bytes of it can be read; `real` duplicates it.
unsafe fn duplicated(text: usize, most: usize, pc: usize, real: impl FnOnce() -> usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded() else { return real() };
        control::before(slot, Kind::RangeRead, pc, text);
        let len = bounded(text, most);
        read(text, len.saturating_add(1).min(most), pc);
        let copy = allocated(thread::quietly(slot, real), len + 1, pc);
        if copy != 0 {
            wrote(copy, len + 1, pc);
        }
        copy
    }
}

interpose_early! {
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
    strncat(3) => strncat;
    stpcpy(2) => stpcpy;
    memchr(3) => memchr;
    strchr(2) => strchr;
    strrchr(2) => strrchr;
    strdup(1) => strdup;
    strndup(2) => strndup;
}
