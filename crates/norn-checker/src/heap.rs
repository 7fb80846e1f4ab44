//! Which blocks of memory are freed at a point of a schedule.

use crate::sorted_map::SortedMap;

/// The blocks that were allocated and freed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    /// By address: the size of an allocated block.
    allocated: SortedMap,
    /// By address: the end of a freed block.
    freed: SortedMap,
}

impl Heap {
    /// Allocates a block. Freed blocks that it overlaps are valid again.
    pub(crate) fn allocate(&mut self, addr: u64, size: u64) {
        self.allocated.insert(addr, size);
        let end = addr.saturating_add(size);
        let Some(last) = end.checked_sub(1) else { return };
        while let Some((reused, _)) = self.freed.last_at(last).filter(|it| it.1 > addr) {
            self.freed.remove(reused);
        }
    }

    /// Frees a block; returns whether that is a double free.
    pub(crate) fn free(&mut self, addr: u64) -> bool {
        if let Some(size) = self.allocated.remove(addr) {
            self.freed.insert(addr, addr.saturating_add(size));
            return false;
        }
        self.freed.get(addr).is_some()
    }

    /// Whether an address is in a freed block.
    pub(crate) fn is_freed(&self, addr: u64) -> bool {
        self.freed.last_at(addr).is_some_and(|it| it.1 > addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_allocated_again_is_valid() {
        let mut heap = Heap::default();
        heap.allocate(0x100, 0x40);
        assert!(!heap.is_freed(0x120));
        assert!(!heap.free(0x100));
        assert!(heap.free(0x100));
        assert!(heap.is_freed(0x13f));
        assert!(!heap.is_freed(0x140));
        heap.allocate(0x120, 0x10);
        assert!(!heap.is_freed(0x120));
    }
}
