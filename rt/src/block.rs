//! Blocks of memory: the range hooks of compilers, and the memory that libc's memory functions
//! access.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, lane::Content};

use crate::{
    arena,
    control::{self, heap},
    event, number, real, thread,
};

/// Records that a block is about to be read or written; `content` states when its bytes can be
/// read.
///
/// # Safety
/// The program is about to read or write the block.
pub unsafe fn touch(
    slot: *mut ThreadSlot,
    kind: Kind,
    addr: usize,
    len: usize,
    pc: usize,
    content: Content,
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if len != 0 && !(*thread::own(slot)).quiet {
            control::before(slot, kind, pc, addr);
        }
        touched(slot, kind, addr, len, pc, content);
    }
}

/// Records that a block was read or written. The scheduler was already asked before the access.
///
/// # Safety
/// The program has read or written the block.
pub unsafe fn touched(
    slot: *mut ThreadSlot,
    kind: Kind,
    addr: usize,
    len: usize,
    pc: usize,
    content: Content,
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if len == 0 || (*thread::own(slot)).quiet {
            return;
        }
        if control::was_on() {
            heap::check(slot, addr, len, pc);
        }
        event::count(slot, kind);
        if arena::make_room(slot) {
            let content = if arena::values() { content } else { Content::None };
            (*slot).lane.range(kind, pc, addr, len, number::of_access(), content);
        } else {
            arena::lose(slot);
        }
    }
}

/// # Safety
/// The program is about to read the block.
unsafe extern "C" fn read_range(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the program is about to read the block. gcc announces the copy of a structure as
        // a write, then a read, and only then executes it, so the block to be written still has its
        // old content and the pending write must be dropped.
        unsafe {
            if (*slot).lane.pend_block != 0 && (*slot).lane.pend_shift == len {
                (*slot).lane.forget();
            }
            touch(slot, Kind::RangeRead, addr, len, pc, Content::Now);
        }
    }
}

/// # Safety
/// The program is about to write the block.
unsafe extern "C" fn write_range(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the program is about to write the block.
        unsafe { touch(slot, Kind::RangeWrite, addr, len, pc, Content::Later) };
    }
}

/// Asks the scheduler before a memory function accesses a block.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn begin(slot: *mut ThreadSlot, kind: Kind, addr: usize, len: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if control::was_on() && len != 0 && !(*thread::own(slot)).quiet {
            control::before(slot, kind, pc, addr);
            heap::check(slot, addr, len, pc);
        }
    }
}

/// `memcpy` and `memmove`, whose blocks may overlap: the read is recorded first, then the bytes are
/// copied, then the write is recorded with the new content.
///
/// # Safety
/// As for `memmove`.
pub unsafe extern "C" fn copy(to: usize, from: usize, len: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let slot = thread::recorded();
        if let Some(slot) = slot {
            touch(slot, Kind::RangeRead, from, len, pc, Content::Now);
        }
        real::memmove()(to, from, len);
        if let Some(slot) = slot {
            touched(slot, Kind::RangeWrite, to, len, pc, Content::Now);
        }
    }
    to
}

/// `memset`.
///
/// # Safety
/// As for `memset`.
pub unsafe extern "C" fn fill(to: usize, byte: c_int, len: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let slot = thread::recorded();
        if let Some(slot) = slot {
            begin(slot, Kind::RangeWrite, to, len, pc);
        }
        real::memset()(to, byte, len);
        if let Some(slot) = slot {
            touched(slot, Kind::RangeWrite, to, len, pc, Content::Now);
        }
    }
    to
}

macro_rules! hooks {
    ($($name:literal $register:literal $function:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            "jmp {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    )* };
}

hooks! {
    "__tsan_read_range" "rdx" read_range;
    "__tsan_write_range" "rdx" write_range;
    "__tsan_memcpy" "rcx" copy;
    "__tsan_memmove" "rcx" copy;
    "__tsan_memset" "rcx" fill;
}
