//! What the kernel draws by chance. While we decide which thread goes next, the plan's seed decides
//! this, too: the same seed, the same numbers.

use core::{
    ffi::{c_int, c_uint},
    sync::atomic::{AtomicU64, Ordering},
};

use super::interpose;
use crate::{arena, control, real};

static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Fills a buffer (SplitMix64 over the seed and a count).
unsafe fn draw(buffer: usize, len: usize) {
    for i in 0..len {
        let count = DRAWN.fetch_add(1, Ordering::Relaxed);
        let number = arena::plan().seed.wrapping_add(count.wrapping_mul(control::STEP));
        // SAFETY: the caller's buffer.
        unsafe { ((buffer + i) as *mut u8).write_volatile((control::mix(number) >> 56) as u8) };
    }
}

unsafe extern "C-unwind" fn getrandom(
    buffer: usize,
    len: usize,
    flags: c_uint,
    _pc: usize,
) -> isize {
    // SAFETY: as the caller called it.
    unsafe {
        if !control::is_on() {
            return real::getrandom()(buffer, len, flags);
        }
        draw(buffer, len);
    }
    len as isize
}

unsafe extern "C-unwind" fn getentropy(buffer: usize, len: usize, _pc: usize) -> c_int {
    const MOST: usize = 256;
    // SAFETY: as the caller called it.
    unsafe {
        if !control::is_on() || len > MOST {
            return real::getentropy()(buffer, len);
        }
        draw(buffer, len);
    }
    0
}

interpose! {
    getrandom(3) => getrandom;
    getentropy(2) => getentropy;
}
