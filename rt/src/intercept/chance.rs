//! Random numbers from the kernel and from C++'s `std::random_device`, which may ask the processor. In a
//! controlled run they are derived from the plan's seed, so that the same seed yields the same numbers.

use core::{
    ffi::{c_int, c_uint},
    sync::atomic::{AtomicU64, Ordering},
};

use super::interpose;
use crate::{arena, control, input::descriptor, real, sys};

static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Fills a buffer with random bytes (SplitMix64 over the seed and a counter).
///
/// # Safety
/// `len` bytes can be written at `buffer`.
unsafe fn draw(buffer: usize, len: usize) {
    for i in 0..len {
        let count = DRAWN.fetch_add(1, Ordering::Relaxed);
        let number = arena::plan().seed.wrapping_add(count.wrapping_mul(control::STEP));
        // SAFETY: the caller guarantees that the buffer is writable.
        unsafe { ((buffer + i) as *mut u8).write_volatile((control::mix(number) >> 56) as u8) };
    }
}

/// Reads from `/dev/random` or `/dev/urandom`, if the descriptor leads there and the run is controlled.
///
/// # Safety
/// `len` bytes can be written at `buffer`.
pub unsafe fn read_device(file: c_int, buffer: usize, len: usize) -> Option<isize> {
    if !control::is_on() || !descriptor::is_random(file) {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { draw(buffer, len) };
    Some(len as isize)
}

/// `std::random_device::operator()`.
///
/// # Safety
/// As for the function in whose place it is called.
#[cfg(not(feature = "static"))]
unsafe extern "C-unwind" fn random_device(object: usize, pc: usize) -> u32 {
    let mut number = 0u32;
    // SAFETY: the buffer is the local variable. A program that calls the function has the C++ library.
    unsafe {
        if control::is_on() {
            draw(&raw mut number as usize, size_of::<u32>());
            return number;
        }
        let real = real::cxx::_ZNSt13random_device9_M_getvalEv(pc);
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize) -> u32>(real)(object)
    }
}

#[cfg(not(feature = "static"))]
interpose! { _ZNSt13random_device9_M_getvalEv(1) => random_device; }

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getrandom(
    buffer: usize,
    len: usize,
    flags: c_uint,
    _pc: usize,
) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !control::is_on() {
            return real::getrandom()(buffer, len, flags);
        }
        draw(buffer, len);
    }
    len as isize
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getentropy(buffer: usize, len: usize, _pc: usize) -> c_int {
    const MOST: usize = 256;
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !control::is_on() || len > MOST {
            return real::getentropy()(buffer, len);
        }
        draw(buffer, len);
    }
    0
}

/// libc's own implementation draws its numbers without a call that the runtime intercepts, so it is
/// replaced. Older versions of libc do not have this function, and a program's own function of this
/// name takes precedence over this one.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn arc4random_buf(buffer: usize, len: usize, _pc: usize) {
    const GETRANDOM: usize = 318;
    // SAFETY: the caller guarantees that the buffer is writable.
    unsafe {
        if control::is_on() {
            return draw(buffer, len);
        }
        let mut done = 0;
        while done < len {
            let count = sys::call(GETRANDOM, [buffer + done, len - done, 0, 0, 0, 0]);
            done += usize::try_from(count).unwrap_or(0);
        }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn arc4random(pc: usize) -> u32 {
    let mut number = 0u32;
    // SAFETY: the buffer is the local variable.
    unsafe { arc4random_buf(&raw mut number as usize, size_of::<u32>(), pc) };
    number
}

/// A uniformly distributed number below `bound`: numbers that would introduce a modulo bias are
/// rejected and drawn again.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn arc4random_uniform(bound: u32, pc: usize) -> u32 {
    if bound < 2 {
        return 0;
    }
    let surplus = bound.wrapping_neg() % bound;
    loop {
        // SAFETY: `arc4random` has no precondition.
        let number = unsafe { arc4random(pc) };
        if number >= surplus {
            return number % bound;
        }
    }
}

interpose! {
    getrandom(3) => getrandom;
    getentropy(2) => getentropy;
    arc4random(0) => arc4random;
    arc4random_buf(2) => arc4random_buf;
    arc4random_uniform(1) => arc4random_uniform;
}
