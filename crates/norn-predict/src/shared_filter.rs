//! The filter of shared memory: finds memory that several threads access.
//!
//! Most accesses of a program are to memory that no other thread ever touches. A hash table with a
//! few bits for each granule of eight bytes distinguishes them in a few nanoseconds. Two granules
//! that collide may be taken for shared when they are not, which only costs time.

use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use norn_model::granule::{GRANULE, granules, is_sampled};

const WRITTEN: u32 = 1 << 31;
const SHARED: u32 = 1 << 30;
const OWNER: u32 = SHARED - 1;
/// Minimum and maximum size of the table, as powers of two.
const SMALLEST: u32 = 10;
const LARGEST: u32 = 24;

/// The memory that several threads access and at least one writes.
#[derive(Debug)]
pub(crate) struct SharedFilter {
    table: Vec<AtomicU32>,
    shift: u32,
}

impl SharedFilter {
    /// Sized for a trace with this many events.
    pub(crate) fn new(events: u64) -> SharedFilter {
        let bits = events.next_power_of_two().ilog2().clamp(SMALLEST, LARGEST);
        let table = (0..1usize << bits).map(|_| AtomicU32::new(0)).collect();
        SharedFilter { table, shift: u64::BITS - bits }
    }

    /// Notes an access by a thread, numbered from 0.
    #[inline]
    pub(crate) fn touch(&self, thread: u32, addr: u64, size: u64, write: bool) {
        for granule in granules(addr, size) {
            self.mark(granule, (thread + 1) & OWNER, write);
        }
    }

    #[inline]
    fn mark(&self, granule: u64, owner: u32, write: bool) {
        let place = self.place(granule);
        let mut seen = place.load(Ordering::Relaxed);
        loop {
            let known = if seen & OWNER == 0 { owner } else { seen & OWNER };
            let shared = if known == owner { 0 } else { SHARED };
            let next = known | (seen & !OWNER) | shared | if write { WRITTEN } else { 0 };
            if next == seen {
                return;
            }
            match place.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Whether several threads access this granule and at least one writes it.
    #[inline]
    pub(crate) fn is_shared(&self, granule: u64) -> bool {
        self.place(granule).load(Ordering::Relaxed) & (SHARED | WRITTEN) == SHARED | WRITTEN
    }

    #[inline]
    fn place(&self, granule: u64) -> &AtomicU32 {
        // Fibonacci hashing: the high bits of the product depend on all bits of the granule.
        let hash = granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        &self.table[usize::try_from(hash).unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_is_what_two_touch_and_one_writes() {
        let filter = SharedFilter::new(0);
        filter.touch(0, 0x100, 4, true);
        assert!(!filter.is_shared(0x100 / GRANULE));
        filter.touch(1, 0x104, 4, false);
        assert!(filter.is_shared(0x100 / GRANULE));
    }
}
