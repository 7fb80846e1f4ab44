//! Blocks of memory: the range hooks of compilers, and the memory that libc's memory functions
//! access.

use core::{ffi::c_int, mem::MaybeUninit};

use norn_abi::{Kind, arena::ThreadSlot, lane::Content};

use crate::{
    arena, collect,
    control::{self, heap},
    event,
    intercept::ignore::is_silent,
    number, real,
    rust_std::compiled,
    thread,
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
        if len != 0 && !is_unrecorded(slot, pc) {
            control::before(slot, kind, pc, addr);
            note(slot, kind, (addr, len), pc, content);
        }
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
        if len != 0 && !is_unrecorded(slot, pc) {
            note(slot, kind, (addr, len), pc, content);
        }
    }
}

/// Records an access to a block that is not empty, by code that is recorded. The scheduler was already
/// asked before it.
///
/// # Safety
/// As for [`touch`] or [`touched`], depending on `content`.
unsafe fn note(
    slot: *mut ThreadSlot,
    kind: Kind,
    (addr, len): (usize, usize),
    pc: usize,
    content: Content,
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if control::was_on() {
            heap::check(slot, addr, len, pc);
        }
        if collect::is_on() {
            collect::range(slot, kind == Kind::RangeWrite, (addr, len), pc);
            if collect::is_only() {
                return;
            }
        }
        event::count(slot, kind);
        let content = if arena::values() { content } else { Content::None };
        let quick = !arena::is_global() && (*slot).lane.quick_range(kind, pc, addr, len, content);
        if !quick {
            note_unusual(slot, kind, (addr, len), pc, content);
        }
    }
}

/// # Safety
/// As for [`note`].
#[inline(never)]
unsafe fn note_unusual(
    slot: *mut ThreadSlot,
    kind: Kind,
    (addr, len): (usize, usize),
    pc: usize,
    content: Content,
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if arena::make_room(slot) {
            (*slot).lane.range(kind, pc, addr, len, number::of_access(), content);
        } else {
            arena::lose(slot);
        }
    }
}

/// # Safety
/// The program is about to read the block.
pub unsafe extern "C" fn read_range(addr: usize, len: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the program is about to read the block. gcc announces the copy of a structure as
        // a write, then a read, and only then executes it, so the block to be written still has its
        // old content and the pending write must be dropped.
        unsafe {
            if (*slot).lane.pend_block != 0 && (*slot).lane.pend_size == len {
                (*slot).lane.forget();
            }
            touch(slot, Kind::RangeRead, addr, len, pc, Content::Now);
        }
    }
}

/// # Safety
/// The program is about to write the block.
pub unsafe extern "C" fn write_range(addr: usize, len: usize, pc: usize) {
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
        if control::was_on() && len != 0 && !is_unrecorded(slot, pc) {
            control::before(slot, kind, pc, addr);
            heap::check(slot, addr, len, pc);
        }
    }
}

/// Whether the accesses of a thread, or of the code at a return address, are not recorded.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
unsafe fn is_unrecorded(slot: *mut ThreadSlot, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { is_silent(slot) || compiled::contains(pc) }
}

/// Number of bytes that are kept while other threads may run between the read and the write of a copy.
const KEPT: usize = 1024;

/// Calls `write`, which writes at `to` the `len` bytes that were read at `from`, and tells it where they
/// are. In a controlled run other threads may run first, and change the source: so the bytes that were
/// read are kept. The bytes of a long block are read when they are written, as a slow copy would do.
///
/// # Safety
/// `len` bytes can be read at `from`.
pub unsafe fn write_from(
    slot: *mut ThreadSlot,
    (to, from, len): (usize, usize, usize),
    pc: usize,
    write: impl FnOnce(usize),
) {
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe {
        if !control::is_on() || len == 0 || is_unrecorded(slot, pc) {
            return write(from);
        }
        write_kept(slot, (to, from, len), pc, write);
    }
}

/// Apart from [`write_from`], so that only controlled runs need room on the stack.
///
/// # Safety
/// As for [`write_from`].
#[inline(never)]
unsafe fn write_kept(
    slot: *mut ThreadSlot,
    (to, from, len): (usize, usize, usize),
    pc: usize,
    write: impl FnOnce(usize),
) {
    let mut kept = MaybeUninit::<[u8; KEPT]>::uninit();
    // SAFETY: guaranteed by the caller; short blocks fit.
    unsafe {
        let source = match len {
            ..=KEPT => real::memmove()(kept.as_mut_ptr() as usize, from, len),
            _ => from,
        };
        begin(slot, Kind::RangeWrite, to, len, pc);
        write(source);
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
        match thread::recorded() {
            Some(slot) if !compiled::contains(pc) => copy_recorded(slot, to, from, len, pc),
            _ => real::memmove()(to, from, len),
        }
    }
}

/// The hook of compilers in place of `memcpy` and `memmove`. Code that calls it has hooks, so it is not
/// [compiled] code of Rust's libraries.
///
/// # Safety
/// As for `memmove`.
unsafe extern "C" fn copy_hook(to: usize, from: usize, len: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match thread::recorded() {
            Some(slot) => copy_recorded(slot, to, from, len, pc),
            None => real::memmove()(to, from, len),
        }
    }
}

/// # Safety
/// As for `memmove`; the slot is the current thread's and not a placeholder.
#[inline(always)]
unsafe fn copy_recorded(
    slot: *mut ThreadSlot,
    to: usize,
    from: usize,
    len: usize,
    pc: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if len == 0 || is_silent(slot) {
            return real::memmove()(to, from, len);
        }
        control::before(slot, Kind::RangeRead, pc, from);
        note(slot, Kind::RangeRead, (from, len), pc, Content::Now);
        write_from(slot, (to, from, len), pc, |from| {
            real::memmove()(to, from, len);
        });
        note(slot, Kind::RangeWrite, (to, len), pc, Content::Now);
    }
    to
}

/// Makes a call that reads a buffer of the program, and records the read. `call` receives the address
/// of the bytes: those of a copy if other threads may run before the call and change the buffer, as for
/// [`write_from`].
///
/// # Safety
/// The call reads `len` bytes at `buffer`.
pub unsafe fn read_by(
    (buffer, len): (usize, usize),
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    let Some(slot) = thread::recorded().filter(|_| can_read(buffer, len)) else {
        return call(buffer);
    };
    // SAFETY: the slot is the current thread's; short buffers fit.
    unsafe {
        touch(slot, Kind::RangeRead, buffer, len, pc, Content::Now);
        if !control::is_on() || len > KEPT {
            return call(buffer);
        }
        read_kept((buffer, len), call)
    }
}

/// # Safety
/// At most [`KEPT`] bytes can be read at `buffer`.
#[inline(never)]
unsafe fn read_kept((buffer, len): (usize, usize), call: impl FnOnce(usize) -> isize) -> isize {
    let mut kept = MaybeUninit::<[u8; KEPT]>::uninit();
    // SAFETY: guaranteed by the caller.
    unsafe { call(real::memmove()(kept.as_mut_ptr() as usize, buffer, len)) }
}

/// Whether a short block can be read; a long one is left to the kernel, which reports an error.
pub fn can_read(start: usize, len: usize) -> bool {
    // SAFETY: the runtime has a handler for faults of these loads.
    let there = |addr: usize| unsafe { norn_abi::peek::byte(addr).is_some() };
    len != 0 && len <= 1 << 30 && there(start) && there(start + len - 1)
}

/// Makes a call that fills a buffer of the program, by its result, and records that as a write. In a
/// controlled run other threads may run between the call and the write: what the call got is kept.
///
/// # Safety
/// The call writes up to `room` bytes at `buffer`.
pub unsafe fn filled_by(
    (buffer, room): (usize, usize),
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    let Some(slot) = thread::recorded() else { return call(buffer) };
    // SAFETY: the slot is the current thread's; short buffers fit.
    unsafe {
        // The call may overwrite what the thread wrote last.
        (*slot).lane.settle_any();
        if control::is_on() && room <= KEPT && can_read(buffer, room) {
            return fill_kept(slot, (buffer, room), pc, call);
        }
        let result = call(buffer);
        if result > 0 {
            touched(slot, Kind::RangeWrite, buffer, (result as usize).min(room), pc, Content::Now);
        }
        result
    }
}

/// # Safety
/// As for [`filled_by`], with room for at most [`KEPT`] bytes.
#[inline(never)]
unsafe fn fill_kept(
    slot: *mut ThreadSlot,
    (buffer, room): (usize, usize),
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    let mut kept = MaybeUninit::<[u8; KEPT]>::uninit();
    let kept = kept.as_mut_ptr() as usize;
    let result = call(kept);
    // SAFETY: guaranteed by the caller.
    unsafe {
        if result > 0 {
            let len = (result as usize).min(room);
            begin(slot, Kind::RangeWrite, buffer, len, pc);
            real::memmove()(buffer, kept, len);
            touched(slot, Kind::RangeWrite, buffer, len, pc, Content::Now);
        }
    }
    result
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
    "__tsan_memcpy" "rcx" copy_hook;
    "__tsan_memmove" "rcx" copy_hook;
    "__tsan_memset" "rcx" fill;
}
