//! Sorting. libc moves the elements, and is not instrumented, while the program's comparison is. So the
//! whole array is recorded as read and written, before libc begins: other threads may run whenever
//! elements are compared.

use norn_abi::{Kind, lane::Content};

use super::interpose;
use crate::{block::touch, real, thread};

/// Records that an array is about to be sorted.
///
/// # Safety
/// The program is about to sort `count` elements of `size` bytes at `array`.
unsafe fn sorts(array: usize, count: usize, size: usize, pc: usize) {
    let Some(slot) = thread::recorded().filter(|_| count > 1) else { return };
    let len = count.saturating_mul(size);
    // SAFETY: guaranteed by the caller.
    unsafe {
        touch(slot, Kind::RangeRead, array, len, pc, Content::Now);
        // What is written is known only when all is sorted.
        touch(slot, Kind::RangeWrite, array, len, pc, Content::None);
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn qsort(
    array: usize,
    count: usize,
    size: usize,
    compare: usize,
    pc: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        sorts(array, count, size, pc);
        real::qsort()(array, count, size, compare);
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn qsort_r(
    array: usize,
    count: usize,
    size: usize,
    compare: usize,
    argument: usize,
    pc: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        sorts(array, count, size, pc);
        real::qsort_r()(array, count, size, compare, argument);
    }
}

interpose! {
    qsort(4) => qsort;
    qsort_r(5) => qsort_r;
}
