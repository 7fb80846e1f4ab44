//! Makes functions call the runtime: asks the recorder which functions are traced, and patches
//! their code or the import tables that refer to them. See [`norn_abi::function`] for the bytes
//! that the compiler reserves for this.

use core::sync::atomic::{AtomicUsize, Ordering};

use norn_abi::{
    Kind,
    arena::ThreadSlot,
    function::{BEFORE, Function, INSIDE, Inquiry, PROTECTED, about, state},
};

use super::{stub, table};
use crate::{arena, number, sys};

/// `endbr64`, the first instruction of functions that may be the target of an indirect jump.
const LANDING: u32 = 0xfa1e_0ff3;
/// Offset of the return address of the inserted call from the start of the reserved bytes.
const KEY: usize = 6;

/// Whether the user named any function.
pub fn is_wanted() -> bool {
    arena::is_open() && arena::inquiry().wanted.load(Ordering::Relaxed) != 0
}

/// Patches the traced functions of a new module.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the module is mapped at `start`.
pub unsafe fn find_defined(slot: *mut ThreadSlot, start: usize, path: &[u8]) {
    // SAFETY: the slot is the current thread's, and the module is mapped.
    unsafe {
        ask_functions(start, path, about::DEFINED, |function| {
            change_code(start + function.offset as usize, function) && name(slot, function)
        });
    }
}

/// Diverts the imports of a new module, after all modules that it uses are known: calls of traced
/// functions come through the runtime, unless the functions call it themselves.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the module is mapped from `start` to
/// `end`.
pub unsafe fn find_imported(slot: *mut ThreadSlot, start: usize, end: usize, path: &[u8]) {
    // SAFETY: as above.
    unsafe {
        ask_functions(start, path, about::IMPORTED, |function| {
            let place = (start + function.offset as usize) as *mut usize;
            let target = target(place, start..end, function);
            // The import is unresolved, or its target calls the runtime already.
            target == 0
                || table::find(target - BEFORE + KEY).is_some()
                || divert(place, target, function) && name(slot, function)
        });
    }
}

/// Asks which functions of a module are traced, and applies `each` to them.
///
/// # Safety
/// As for [`ask`].
unsafe fn ask_functions(
    start: usize,
    path: &[u8],
    about: u32,
    mut each: impl FnMut(&Function) -> bool,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        ask(start, path, about, |inquiry, count| {
            for function in &inquiry.functions[..count.min(inquiry.functions.len())] {
                if !each(function) {
                    inquiry.refused.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
}

/// Asks the recorder about a module, and applies `read` to the answer and its number of rows.
///
/// # Safety
/// The module is mapped at `start`, and the caller holds the lock of the module list.
pub unsafe fn ask(start: usize, path: &[u8], about: u32, read: impl FnOnce(&Inquiry, usize)) {
    let inquiry = arena::inquiry();
    let process = sys::process_id();
    while let Err(other) =
        inquiry.asker.compare_exchange(0, process, Ordering::Acquire, Ordering::Relaxed)
    {
        if !sys::alive(other) {
            let _ = inquiry.asker.compare_exchange(other, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        sys::yield_now();
    }
    inquiry.start.store(start as u64, Ordering::Relaxed);
    inquiry.about.store(about, Ordering::Relaxed);
    inquiry.len.store(path.len() as u32, Ordering::Relaxed);
    for (at, &byte) in path.iter().take(inquiry.path.len()).enumerate() {
        // SAFETY: only the thread that asks writes the question.
        unsafe { (&raw const inquiry.path[at]).cast_mut().write_volatile(byte) };
    }
    inquiry.state.store(state::ASKED, Ordering::Release);
    if arena::wait_for_answer() {
        read(inquiry, inquiry.count.load(Ordering::Relaxed) as usize);
    }
    inquiry.state.store(state::IDLE, Ordering::Relaxed);
    inquiry.asker.store(0, Ordering::Release);
}

/// Records the name of the function's number in the trace.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn name(slot: *mut ThreadSlot, function: &Function) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if arena::make_room(slot) {
            let (number, seq) = (function.number as usize, number::next(slot));
            (*slot).lane.text(Kind::Name, number, seq, 0, function.name());
        }
    }
    true
}

/// Makes a function that was compiled with room for a call call the runtime.
///
/// # Safety
/// The function's room for a call, as the recorder found it, is at `entry`, and no thread executes
/// these bytes now.
unsafe fn change_code(entry: usize, function: &Function) -> bool {
    // SAFETY: the recorder has verified in the module's file that the bytes are reserved for this.
    unsafe {
        let landing = (entry as *const u32).read_unaligned() == LANDING;
        let inside = if landing { entry + 4 } else { entry };
        let before = entry - BEFORE;
        if !table::add(before + KEY, inside + INSIDE, function) {
            return false;
        }
        let first = before & !sys::PAGE_MASK;
        let len = inside + INSIDE - first;
        if !sys::protect(first, len, sys::WRITABLE_CODE) {
            return false;
        }
        write_call(before);
        let distance = before.wrapping_sub(inside + INSIDE) as u8;
        (inside as *mut [u8; INSIDE]).write_volatile([0xeb, distance]);
        sys::protect(first, len, sys::CODE);
    }
    true
}

/// Writes `call [rip + 2]` and, two bytes after it, the target address.
///
/// # Safety
/// The bytes are writable, and no thread executes them.
unsafe fn write_call(at: usize) {
    // SAFETY: the bytes are writable, and no thread executes them yet.
    unsafe {
        (at as *mut u64).write_unaligned(u64::from_le_bytes([0xff, 0x15, 2, 0, 0, 0, 0x90, 0x90]));
        ((at + 8) as *mut usize).write_unaligned(stub::call());
    }
}

/// Diverts calls through an entry of an import table to the runtime.
///
/// # Safety
/// `place` is an entry of a module's import table.
unsafe fn divert(place: *mut usize, target: usize, function: &Function) -> bool {
    // SAFETY: the recorder has found the entry in the module's file.
    unsafe {
        let known = table::find((*place).wrapping_add(KEY));
        if known.is_some() {
            return true;
        }
        let Some(way) = new_way() else { return false };
        if !table::add(way + KEY, target, function) {
            return false;
        }
        write_call(way);
        let page = place as usize & !sys::PAGE_MASK;
        let protected = function.flags & PROTECTED != 0;
        if protected && !sys::protect(page, sys::PAGE_MASK + 1, sys::DATA) {
            return false;
        }
        place.write_volatile(way);
        if protected {
            sys::protect(page, sys::PAGE_MASK + 1, sys::CONSTANT);
        }
    }
    true
}

/// The target of an import-table entry: what the loader has stored there, or will store there.
///
/// # Safety
/// `place` is an entry of the module's import table.
unsafe fn target(place: *mut usize, module: core::ops::Range<usize>, function: &Function) -> usize {
    // SAFETY: the entry is mapped.
    let current = unsafe { *place };
    if current != 0 && !module.contains(&current) {
        return current;
    }
    #[cfg(feature = "static")]
    {
        let _ = function;
        0
    }
    #[cfg(not(feature = "static"))]
    crate::real::symbol(function.linkage())
}

/// Allocates room for a call stub in the runtime's own memory, for a function without reserved
/// bytes.
///
/// # Safety
/// The caller holds the lock of the module list.
unsafe fn new_way() -> Option<usize> {
    const SIZE: usize = 1 << 16;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    static END: AtomicUsize = AtomicUsize::new(0);
    // Relaxed is enough: the lock of the module list is held, so only one thread is here.
    let mut next = NEXT.load(Ordering::Relaxed);
    if next == END.load(Ordering::Relaxed) {
        next = sys::map_code(SIZE)?;
        END.store(next + SIZE, Ordering::Relaxed);
    }
    NEXT.store(next + BEFORE, Ordering::Relaxed);
    Some(next)
}
