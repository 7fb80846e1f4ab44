//! The heap. The wrappers of `operator new` and `delete` only note their caller: the C++ library's
//! own operators call `malloc` and `free`, which record the event.

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot};

use super::interpose;
use crate::{control::heap, event, real, thread, tls};

/// Number of bytes that a process can address.
const ADDRESS_SPACE: usize = 1 << 47;

/// The call site to record: that of `operator new`, if the operator made this call.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn caller(slot: *mut ThreadSlot, pc: usize) -> usize {
    // SAFETY: the slot is the current thread's.
    unsafe {
        match core::mem::take(&mut (*thread::own(slot)).caller) {
            0 => pc,
            caller => caller,
        }
    }
}

/// Records a new block, unless the allocation failed.
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

/// Whether there is a block and it belongs to the program, not to libc's internal work.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn is_programs(slot: *mut ThreadSlot, block: usize) -> bool {
    // SAFETY: the slot is the current thread's.
    block != 0 && unsafe { !(*thread::own(slot)).quiet }
}

/// The size of a block, as libc's allocator stores it before the block.
///
/// # Safety
/// The block was allocated by libc's allocator.
pub unsafe fn size_of_block(block: usize) -> usize {
    // SAFETY: guaranteed by the caller. A replaced allocator may store something else there; then a
    // block that could not be moved is recorded with a wrong size.
    match block {
        0 => 0,
        _ if heap::contains(block) => unsafe { heap::size(block) },
        _ => unsafe { ((block - 8) as *const usize).read() & !7 },
    }
}

/// Allocates a block from the heap of controlled runs. Returns 0 if that heap does not serve this
/// call, or if it has no room.
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

/// Defines a function that returns a new block: the real function, its arguments, the size, the
/// alignment, and whether the block is zeroed.
macro_rules! allocate {
    ($($name:ident($($arg:ident),*) = $real:ident, $size:expr, $align:expr, $zero:literal;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        pub unsafe extern "C-unwind" fn $name($($arg: usize,)* pc: usize) -> usize {
            // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
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

/// Moves a block of the heap of controlled runs, or allocates a new one if there is no block.
///
/// # Safety
/// As for `realloc`, with a block of the heap of controlled runs or null.
unsafe fn moved(block: usize, size: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
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

/// Frees a block in the heap that it was allocated from.
///
/// # Safety
/// As for `free`.
unsafe fn release(block: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller. libc's `reallocarray` calls `realloc`, so that the event
    // would be recorded twice.
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

/// Records a reallocation as a free of the old block and an allocation of the new one. If the
/// reallocation fails, the old block is recorded as allocated again.
///
/// # Safety
/// As for `realloc`, which `real` calls.
unsafe fn reallocated(block: usize, size: usize, pc: usize, real: impl FnOnce() -> usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        // No block can be this large: the call fails, and nothing changes.
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
pub unsafe extern "C-unwind" fn free(block: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
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

// A static program keeps the C++ library's operators: there is no second definition to call. The
// site of its allocations is in `operator new`; the call stack shows the caller.
#[cfg(not(feature = "static"))]
mod cxx {
    use crate::{intercept::tap, real, thread};

    /// Notes the caller and continues with the library's operator, or with plain `malloc` or `free`
    /// where the C++ library is not a module of its own.
    macro_rules! operators {
        ($($name:ident, $fallback:ident;)*) => {
            $(
                /// # Safety
                /// Called on the way to an `operator new`.
                #[allow(non_snake_case, reason = "the linker's name")]
                unsafe extern "C" fn $name(pc: usize) -> usize {
                    if let Some(slot) = thread::recorded() {
                        // SAFETY: the slot is the current thread's. One operator may call another:
                        // the program called the first of them.
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

// For a program that links the C++ library statically: these operators replace the library's own.
#[cfg(not(feature = "static"))]
core::arch::global_asm!(".weak _ZSt17__throw_bad_allocv");

/// Ends a failed allocation as C++ does: by an exception, if the library defines it.
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
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
    unsafe { malloc(size.max(1), 0) }
}

/// # Safety
/// As for `operator new`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn new_aligned(size: usize, align: usize) -> usize {
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
    unsafe { aligned_alloc(align, size.max(1).checked_next_multiple_of(align).unwrap_or(size), 0) }
}

/// # Safety
/// As for `operator delete`.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn delete(block: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { free(block, 0) }
}
