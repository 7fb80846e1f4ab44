//! The region of memory that contains an address, at the time of an event.

use std::collections::BTreeMap;

use norn_model::{Event, MemoryAccess, Op, SiteId, StackId, ThreadId};
use rustc_hash::FxHashMap;

use crate::pointers::Pointers;

/// An address on a stack, and the progress of the thread that owns the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnStack {
    /// The owner of the stack.
    pub thread: ThreadId,
    /// The index of the event that the owner has reached.
    pub index: u64,
    /// The site of that event.
    pub site: SiteId,
    /// The address after the stack.
    pub end: u64,
}

/// The region that contains an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// A heap block.
    Heap {
        /// The offset of the address in the block.
        offset: u64,
        /// The number of the block among those that were allocated at its site, from 1.
        ordinal: u32,
        /// The size of the block.
        size: u64,
        /// The site of the allocation.
        site: SiteId,
        /// The calls that led to the allocation.
        stack: StackId,
        /// Whether it has been freed.
        freed: bool,
    },
    /// Pages that the program mapped.
    Mapped {
        /// The offset of the address in the pages.
        offset: u64,
        /// The site of the mapping.
        site: SiteId,
    },
    /// The stack of a thread.
    Stack(OnStack),
}

#[derive(Clone, Copy, Debug)]
struct Block {
    size: u64,
    site: SiteId,
    stack: StackId,
    ordinal: u32,
    freed: bool,
}

/// The memory of a process, as the events up to now describe it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    heap: BTreeMap<u64, Block>,
    maps: BTreeMap<u64, Block>,
    stacks: BTreeMap<u64, (u64, ThreadId)>,
    /// How many blocks were allocated at each site.
    allocated: FxHashMap<SiteId, u32>,
    /// The pointers to heap blocks that are in memory.
    pointers: Pointers,
    /// The event that each thread has reached.
    arrived: FxHashMap<ThreadId, (u64, SiteId)>,
}

impl Memory {
    /// Applies the next event. Events must come in an order that respects synchronisation.
    pub fn learn(&mut self, event: &Event) {
        self.arrive(event);
        let (site, stack) = (event.site, event.stack);
        let block = |size, ordinal| Block { size, site, stack, ordinal, freed: false };
        match event.op {
            Op::Begin { stack, size } => {
                self.stacks.insert(stack, (size, event.id.thread));
            }
            Op::Alloc { addr, .. } => {
                self.learn_blocks(event);
                self.pointers.forget(addr);
            }
            Op::Free { .. } => self.learn_blocks(event),
            Op::Map { addr, size } => {
                remove_overlapped(&mut self.maps, addr, size);
                self.maps.insert(addr, block(size, 0));
            }
            Op::Unmap { addr, .. } => {
                self.maps.remove(&addr);
            }
            _ => self.note_pointer(event),
        }
    }

    /// Applies the next event as far as it allocates or frees a heap block. That is much faster, and enough
    /// for [`Memory::heap`].
    pub(crate) fn learn_blocks(&mut self, event: &Event) {
        let (site, stack) = (event.site, event.stack);
        if let Op::Alloc { addr, size } = event.op {
            remove_overlapped(&mut self.heap, addr, size);
            let ordinal = self.allocated.entry(site).or_default();
            *ordinal = ordinal.saturating_add(1);
            self.heap.insert(addr, Block { size, site, stack, ordinal: *ordinal, freed: false });
        } else if let Op::Free { addr } = event.op
            && let Some(block) = self.heap.get_mut(&addr)
        {
            block.freed = true;
        }
    }

    /// Notes a pointer that is written to memory, overwritten, or read. Reads count because not all code
    /// that writes is recorded.
    fn note_pointer(&mut self, event: &Event) {
        let Some(MemoryAccess { addr, size, read, write, .. }) = event.op.access() else { return };
        let value = write.or(read).flatten();
        let block = value.filter(|_| size == 8).and_then(|it| u64::try_from(it).ok());
        self.pointers.store((addr, size), block.filter(|it| self.heap.contains_key(it)));
    }

    /// The heap block that contains an address: its beginning and its size.
    pub fn block(&self, addr: u64) -> Option<(u64, u64)> {
        covering(&self.heap, addr).map(|it| (it.0, it.1.size))
    }

    /// Where pointers to the beginning of a heap block are in memory, in the order in which they were
    /// written.
    pub fn pointers_to(&self, block: u64) -> impl Iterator<Item = u64> {
        self.pointers.to(block)
    }

    /// Notes that a thread has reached its next event, which has not happened yet.
    pub fn arrive(&mut self, event: &Event) {
        self.arrived.insert(event.id.thread, (event.id.index, event.site));
    }

    /// The heap block that contains an address now.
    pub(crate) fn heap(&self, addr: u64) -> Option<Region> {
        let (start, block) = covering(&self.heap, addr)?;
        let Block { size, site, stack, ordinal, freed } = *block;
        Some(Region::Heap { offset: addr - start, ordinal, size, site, stack, freed })
    }

    /// The region that contains an address now.
    pub fn region(&self, addr: u64) -> Option<Region> {
        if let Some(heap) = self.heap(addr) {
            return Some(heap);
        }
        let stack = self.stacks.range(..=addr).next_back();
        let stack = stack.filter(|(start, (size, _))| addr - **start < *size);
        if let Some((start, (size, thread))) = stack {
            let (index, site) = self.arrived.get(thread).copied().unwrap_or_default();
            let end = start.saturating_add(*size);
            return Some(Region::Stack(OnStack { thread: *thread, index, site, end }));
        }
        let (start, block) = covering(&self.maps, addr)?;
        Some(Region::Mapped { offset: addr - start, site: block.site })
    }
}

fn covering(blocks: &BTreeMap<u64, Block>, addr: u64) -> Option<(u64, &Block)> {
    let (start, block) = blocks.range(..=addr).next_back()?;
    (addr - start < block.size).then_some((*start, block))
}

/// Removes older blocks that a new block overlaps.
fn remove_overlapped(blocks: &mut BTreeMap<u64, Block>, addr: u64, size: u64) {
    let end = addr.saturating_add(size);
    let gone: Vec<u64> = blocks.range(addr..end).map(|(start, _)| *start).collect();
    for start in gone {
        blocks.remove(&start);
    }
}

#[cfg(test)]
mod tests {
    use norn_model::EventId;

    use super::*;

    fn event(op: Op) -> Event {
        let id = EventId { thread: ThreadId(1), index: 0 };
        Event { id, op, site: SiteId(7), stack: StackId(0), seq: None }
    }

    fn memory(ops: &[Op]) -> Memory {
        let mut memory = Memory::default();
        for op in ops {
            memory.learn(&event(*op));
        }
        memory
    }

    #[test]
    fn a_block_is_found_by_every_byte_of_it() {
        let memory = memory(&[Op::Alloc { addr: 100, size: 8 }]);
        let Some(Region::Heap { offset: 7, freed: false, .. }) = memory.region(107) else {
            panic!()
        };
        assert_eq!(memory.region(108), None);
        assert_eq!(memory.region(99), None);
    }

    #[test]
    fn a_freed_block_is_remembered_until_it_is_reused() {
        let ops = [Op::Alloc { addr: 100, size: 8 }, Op::Free { addr: 100 }];
        assert!(matches!(memory(&ops).region(100), Some(Region::Heap { freed: true, .. })));
        let mut memory = memory(&ops);
        memory.learn(&event(Op::Alloc { addr: 96, size: 32 }));
        assert!(matches!(memory.region(100), Some(Region::Heap { freed: false, offset: 4, .. })));
    }

    #[test]
    fn stacks_belong_to_their_threads() {
        let memory = memory(&[Op::Begin { stack: 4096, size: 4096 }]);
        let on = OnStack { thread: ThreadId(1), index: 0, site: SiteId(7), end: 8192 };
        assert_eq!(memory.region(5000), Some(Region::Stack(on)));
        assert_eq!(memory.region(9000), None);
    }
}
