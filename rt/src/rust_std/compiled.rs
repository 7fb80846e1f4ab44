//! The compiled code of Rust's libraries. What it copies by `memcpy` and the like is its own, and protected
//! by synchronisation that is not recorded; the code of the program calls hooks instead.

use core::sync::atomic::{AtomicUsize, Ordering};

use norn_abi::rust_std::RANGES;

static STARTS: [AtomicUsize; RANGES] = [const { AtomicUsize::new(0) }; RANGES];
static ENDS: [AtomicUsize; RANGES] = [const { AtomicUsize::new(0) }; RANGES];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Adds a range of code. The caller holds the lock of the module list.
pub fn add(start: usize, len: usize) -> Option<usize> {
    let count = COUNT.load(Ordering::Relaxed);
    STARTS.get(count)?.store(start, Ordering::Relaxed);
    ENDS.get(count)?.store(start + len, Ordering::Relaxed);
    COUNT.store(count + 1, Ordering::Release);
    Some(0)
}

/// Whether a return address is in such code.
#[inline(always)]
pub fn contains(pc: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire);
    count != 0 && is_in_range(pc, count)
}

#[cold]
fn is_in_range(pc: usize, count: usize) -> bool {
    let ranges = STARTS.iter().zip(&ENDS).take(count);
    ranges.into_iter().any(|(start, end)| {
        (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&pc)
    })
}
