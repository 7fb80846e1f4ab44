//! The heap. `operator new` and `delete` only say who called: the C++ library's own go on to
//! `malloc` and `free`, which record.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot};

use super::interpose;
use crate::{control::heap, event, real, thread, tls};

/// Bytes that a process can address.
const ADDRESS_SPACE: usize = 1 << 47;

/// Who is behind this call: the caller of `operator new`, if it was that which called us.
///
/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn caller(slot: *mut ThreadSlot, pc: usize) -> usize {
    // SAFETY: the slot is the current thread's.
    unsafe {
        match core::mem::take(&mut (*thread::own(slot)).caller) {
            0 => pc,
            caller => caller,
        }
    }
}

/// Records a new block, if there is one.
///
/// # Safety
/// The block is new, or `block` is 0.
pub unsafe fn allocated(block: usize, size: usize, pc: usize) -> usize {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if let Some(slot) = thread::recorded() {
            let pc = caller(slot, pc);
            if is_programs(slot, block) {
                event::put(slot, Kind::Alloc, pc, block, &[size as u64]);
            }
        }
    }
    block
}

/// # Safety
/// The block has not been freed yet.
unsafe fn freeing(block: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if let Some(slot) = thread::recorded() {
            let pc = caller(slot, pc);
            if is_programs(slot, block) {
                event::put(slot, Kind::Free, pc, block, &[]);
            }
        }
    }
}

/// Whether there is a block, and it is the program's.
///
/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn is_programs(slot: *mut ThreadSlot, block: usize) -> bool {
    // SAFETY: the slot is the current thread's.
    block != 0 && unsafe { !(*thread::own(slot)).quiet }
}

/// The size of a block, as libc's allocator notes it before the block.
///
/// # Safety
/// The block is one of libc's allocator.
unsafe fn size_of_block(block: usize) -> usize {
    // SAFETY: the block is one of the allocator's. Another allocator may keep something else
    // there; then a block that could not be moved is said to have another size.
    match block {
        0 => 0,
        _ if heap::contains(block) => unsafe { heap::size(block) },
        _ => unsafe { ((block - 8) as *const usize).read() & !7 },
    }
}

/// A block from the heap of controlled runs; 0 if that is not for the program, or has no room.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn from_heap(size: usize, align: usize, zero: bool) -> usize {
    if !heap::is_on() {
        return 0;
    }
    // SAFETY: the slot is the current thread's.
    match thread::recorded() {
        Some(slot) if unsafe { !(*thread::own(slot)).quiet } => unsafe {
            heap::allocate(slot, size, align, zero)
        },
        _ => 0,
    }
}

/// Defines a function that returns a new block: its real one, its arguments, the size, the
/// alignment, and whether it is zero.
macro_rules! allocate {
    ($($name:ident($($arg:ident),*) = $real:ident, $size:expr, $align:expr, $zero:literal;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name($($arg: usize,)* pc: usize) -> usize {
            // SAFETY: as the caller called it.
            unsafe {
                let block = match from_heap($size, $align, $zero) {
                    0 => real::$real()($($arg),*),
                    block => block,
                };
                allocated(block, $size, pc)
            }
        }
    )* };
}

const PAGE: usize = 4096;

allocate! {
    malloc(size) = malloc, size, 0, false;
    calloc(count, size) = calloc, count.saturating_mul(size), 0, true;
    aligned_alloc(align, size) = aligned_alloc, size, align, false;
    memalign(align, size) = memalign, size, align, false;
    valloc(size) = valloc, size, PAGE, false;
    pvalloc(size) = pvalloc, size.next_multiple_of(PAGE), PAGE, false;
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn posix_memalign(
    out: usize,
    align: usize,
    size: usize,
    pc: usize,
) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let block = if align.is_power_of_two() { from_heap(size, align, false) } else { 0 };
        if block != 0 {
            *(out as *mut usize) = block;
        } else {
            let result = real::posix_memalign()(out, align, size);
            if result != 0 {
                return result;
            }
        }
        allocated(*(out as *const usize), size, pc);
        0
    }
}

/// Moves a block of the heap of controlled runs; or gives a new one, if there is none.
///
/// # Safety
/// As for `realloc`, with a block of the heap of controlled runs or none.
unsafe fn moved(block: usize, size: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        if size == 0 && block != 0 {
            release(block, pc);
            return 0;
        }
        let new = match from_heap(size, 0, false) {
            0 => real::malloc()(size),
            new => new,
        };
        if block != 0 && new != 0 {
            real::memmove()(new, block, heap::size(block).min(size));
            release(block, pc);
        }
        new
    }
}

/// Gives a block back to the heap that it is from.
///
/// # Safety
/// As for `free`.
unsafe fn release(block: usize, pc: usize) {
    // SAFETY: as the caller called it.
    unsafe {
        if heap::contains(block) {
            heap::free(tls::current(), block, pc);
        } else {
            real::free()(block);
        }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn usable_size(block: usize, _pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        match heap::contains(block) {
            true => heap::size(block),
            false => real::malloc_usable_size()(block),
        }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn realloc(block: usize, size: usize, pc: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        reallocated(block, size, pc, || {
            match heap::contains(block) || block == 0 && heap::is_on() {
                true => moved(block, size, pc),
                false => real::realloc()(block, size),
            }
        })
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn reallocarray(
    block: usize,
    count: usize,
    size: usize,
    pc: usize,
) -> usize {
    const ENOMEM: c_int = 12;
    // SAFETY: as the caller called it. libc's own calls `realloc`, which would be recorded twice.
    unsafe {
        match count.checked_mul(size) {
            Some(all) => realloc(block, all, pc),
            None => {
                *real::__errno_location() = ENOMEM;
                0
            }
        }
    }
}

/// A block that moves is freed and allocated; one that cannot is there again.
///
/// # Safety
/// As for `realloc`, which `real` calls.
unsafe fn reallocated(block: usize, size: usize, pc: usize, real: impl FnOnce() -> usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        // Such a block there is not: it fails, and nothing changes.
        if size >= ADDRESS_SPACE {
            return real();
        }
        let before = size_of_block(block);
        freeing(block, pc);
        let moved = real();
        match moved {
            0 if size != 0 => allocated(block, before, pc),
            _ => allocated(moved, size, pc),
        };
        moved
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn free(block: usize, pc: usize) {
    // SAFETY: as the caller called it.
    unsafe {
        freeing(block, pc);
        release(block, pc);
    }
}

interpose! {
    malloc(1) => malloc;
    calloc(2) => calloc;
    realloc(2) => realloc;
    reallocarray(3) => reallocarray;
    free(1) => free;
    posix_memalign(3) => posix_memalign;
    aligned_alloc(2) => aligned_alloc;
    memalign(2) => memalign;
    valloc(1) => valloc;
    pvalloc(1) => pvalloc;
    malloc_usable_size(1) => usable_size;
}

// A static subject has the C++ library's operators as they are: there is no second definition to
// go on to. Its allocations have their site in `operator new`; the call stack says the rest.
#[cfg(not(feature = "static"))]
mod cxx {
    use crate::{intercept::tap, real, thread};

    /// Notes the caller and goes on to the operator; to plain `malloc` or `free` where the
    /// C++ library is not in a module of its own.
    macro_rules! operators {
        ($($name:ident, $fallback:ident;)*) => {
            $(
                /// # Safety
                /// Called on the way to an `operator new`.
                #[allow(non_snake_case, reason = "the linker's name")]
                unsafe extern "C" fn $name(pc: usize) -> usize {
                    if let Some(slot) = thread::recorded() {
                        // SAFETY: the slot is the current thread's. One operator may call
                        // another: it is the first that the program called.
                        unsafe {
                            if (*thread::own(slot)).caller == 0 {
                                (*thread::own(slot)).caller = pc;
                            }
                        }
                    }
                    match real::cxx::$name() {
                        0 => super::$fallback as *const () as usize,
                        real => real,
                    }
                }
                tap! { $name => $name; }
            )*
        };
    }

    operators! {
        _Znwm, new; _Znam, new; _ZnwmRKSt9nothrow_t, new_or_null;
        _ZnamRKSt9nothrow_t, new_or_null;
        _ZnwmSt11align_val_t, new_aligned; _ZnamSt11align_val_t, new_aligned;
        _ZnwmSt11align_val_tRKSt9nothrow_t, new_aligned_or_null;
        _ZnamSt11align_val_tRKSt9nothrow_t, new_aligned_or_null;
        _ZdlPv, delete; _ZdaPv, delete; _ZdlPvm, delete; _ZdaPvm, delete;
        _ZdlPvRKSt9nothrow_t, delete; _ZdaPvRKSt9nothrow_t, delete;
        _ZdlPvSt11align_val_t, delete; _ZdaPvSt11align_val_t, delete;
        _ZdlPvmSt11align_val_t, delete; _ZdaPvmSt11align_val_t, delete;
    }
}

// For a program that has the C++ library linked in statically: our operators keep its own out.
#[cfg(not(feature = "static"))]
core::arch::global_asm!(".weak _ZSt17__throw_bad_allocv");

/// Ends a failed allocation as C++ does: by an exception, if the library has it.
///
/// # Safety
/// The caller may be unwound.
#[cfg(not(feature = "static"))]
unsafe fn throw_bad_alloc() {
    let throw: usize;
    // SAFETY: the symbol is a function without arguments, or absent.
    unsafe {
        core::arch::asm!(
            "mov {throw}, qword ptr [rip + _ZSt17__throw_bad_allocv@GOTPCREL]",
            throw = out(reg) throw,
        );
        if throw != 0 {
            core::mem::transmute::<usize, unsafe extern "C-unwind" fn()>(throw)();
        }
        real::abort()();
    }
}

/// # Safety
/// As for `operator new`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn new(size: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        let block = new_or_null(size);
        if block == 0 {
            throw_bad_alloc();
        }
        block
    }
}

/// # Safety
/// As for `operator new`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn new_or_null(size: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe { malloc(size.max(1), 0) }
}

/// # Safety
/// As for `operator new`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn new_aligned(size: usize, align: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe {
        let block = new_aligned_or_null(size, align);
        if block == 0 {
            throw_bad_alloc();
        }
        block
    }
}

/// # Safety
/// As for `operator new`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn new_aligned_or_null(size: usize, align: usize) -> usize {
    // SAFETY: as the caller called it.
    unsafe { aligned_alloc(align, size.max(1).checked_next_multiple_of(align).unwrap_or(size), 0) }
}

/// # Safety
/// As for `operator delete`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn delete(block: usize) {
    // SAFETY: as the caller called it.
    unsafe { free(block, 0) }
}
