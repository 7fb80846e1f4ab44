//! Mapped pages.

use core::ffi::c_int;

use norn_abi::Kind;

use super::interpose;
use crate::{event, real, thread};

const FAILED: usize = usize::MAX;

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn mapped(start: usize, len: usize, pc: usize) {
    if let (Some(slot), true) = (thread::recorded(), start != FAILED) {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::Map, pc, start, &[len as u64]) };
    }
}

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn unmapping(start: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::Unmap, pc, start, &[len as u64]) };
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn munmap(start: usize, len: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        unmapping(start, len, pc);
        real::munmap()(start, len)
    }
}

// `mmap` and `mremap` have six and five arguments: no register is left for the return address, so
// their stubs put it on the stack as the seventh argument.
core::arch::global_asm!(
    concat!(".weak ", super::symbol!(mmap)),
    concat!(".weak ", super::symbol!(mmap64)),
    concat!(super::symbol!(mmap), ":"),
    concat!(super::symbol!(mmap64), ":"),
    "mov rax, qword ptr [rsp]",
    "push rax",
    "call {mmap}",
    "add rsp, 8",
    "ret",
    mmap = sym mmap,
);

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn mmap(
    start: usize,
    len: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
    pc: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let result = real::mmap()(start, len, protection, flags, file, offset);
        mapped(result, len, pc);
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn mremap(
    old: usize,
    len: usize,
    new_len: usize,
    flags: c_int,
    new: usize,
    pc: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        unmapping(old, len, pc);
        let result = real::mremap()(old, len, new_len, flags, new);
        mapped(
            if result == FAILED { old } else { result },
            if result == FAILED { len } else { new_len },
            pc,
        );
        result
    }
}

interpose! {
    munmap(2) => munmap;
    mremap(5) => mremap;
}
