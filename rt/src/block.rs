//! Blocks of memory: the range hooks of compilers and what memory functions touch.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, lane::Content};

use crate::{
    arena,
    control::{self, heap},
    event, number, real, thread,
};

/// Records that a block is about to be read or written; `content` says when its bytes can be seen.
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

/// Records that a block was read or written: whether others go first was asked before.
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
        // SAFETY: the program is about to read the block. A copy of a structure is announced by
        // gcc as a write, then a read, and only then done: the block to be written is still old.
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

/// A memory function is about to touch a block: others may go first.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn begin(slot: *mut ThreadSlot, kind: Kind, addr: usize, len: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if control::was_on() && len != 0 && !(*thread::own(slot)).quiet {
            control::before(slot, kind, pc, addr);
            heap::check(slot, addr, len, pc);
        }
    }
}

/// `memcpy` and `memmove`, which may overlap: read first, then copied, then seen as written.
///
/// # Safety
/// As for `memmove`.
pub unsafe extern "C" fn copy(to: usize, from: usize, len: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
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
    // SAFETY: as the caller called it.
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
