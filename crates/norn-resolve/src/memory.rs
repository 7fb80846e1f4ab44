//! What memory an address belongs to, at the time of an event.

use std::collections::BTreeMap;

use norn_model::{Event, Op, SiteId, StackId, ThreadId};
use rustc_hash::FxHashMap;

use crate::OnStack;

/// What an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A heap block.
    Heap {
        /// How far into it.
        offset: u64,
        /// Its size.
        size: u64,
        /// Where it was allocated.
        site: SiteId,
        /// By which calls.
        stack: StackId,
        /// Whether it has been freed.
        freed: bool,
    },
    /// Pages that the program mapped.
    Mapped {
        /// How far into them.
        offset: u64,
        /// Where they were mapped.
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
    freed: bool,
}

/// The memory of a process as far as the events so far tell.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    heap: BTreeMap<u64, Block>,
    maps: BTreeMap<u64, Block>,
    stacks: BTreeMap<u64, (u64, ThreadId)>,
    /// What each thread has come to.
    arrived: FxHashMap<ThreadId, (u64, SiteId)>,
}

impl Memory {
    /// Learns from the next event. Events must come in an order that respects synchronisation.
    pub fn learn(&mut self, event: &Event) {
        self.arrive(event);
        let block = |size| Block { size, site: event.site, stack: event.stack, freed: false };
        match event.op {
            Op::Begin { stack, size } => {
                self.stacks.insert(stack, (size, event.id.thread));
            }
            Op::Alloc { addr, size } => {
                bury(&mut self.heap, addr, size);
                self.heap.insert(addr, block(size));
            }
            Op::Free { addr } => {
                if let Some(block) = self.heap.get_mut(&addr) {
                    block.freed = true;
                }
            }
            Op::Map { addr, size } => {
                bury(&mut self.maps, addr, size);
                self.maps.insert(addr, block(size));
            }
            Op::Unmap { addr, .. } => {
                self.maps.remove(&addr);
            }
            _ => {}
        }
    }

    /// A thread comes to its next event, which has not happened yet.
    pub fn arrive(&mut self, event: &Event) {
        self.arrived.insert(event.id.thread, (event.id.index, event.site));
    }

    /// What an address belongs to now.
    pub fn place(&self, addr: u64) -> Option<Place> {
        if let Some((start, block)) = covering(&self.heap, addr) {
            let Block { size, site, stack, freed } = *block;
            return Some(Place::Heap { offset: addr - start, size, site, stack, freed });
        }
        let stack = self.stacks.range(..=addr).next_back();
        if let Some((_, (_, thread))) = stack.filter(|(start, (size, _))| addr - **start < *size) {
            let (index, site) = self.arrived.get(thread).copied().unwrap_or_default();
            return Some(Place::Stack(OnStack { thread: *thread, index, site }));
        }
        let (start, block) = covering(&self.maps, addr)?;
        Some(Place::Mapped { offset: addr - start, site: block.site })
    }
}

fn covering(blocks: &BTreeMap<u64, Block>, addr: u64) -> Option<(u64, &Block)> {
    let (start, block) = blocks.range(..=addr).next_back()?;
    (addr - start < block.size).then_some((*start, block))
}

/// Forgets what used to be where a new block is.
fn bury(blocks: &mut BTreeMap<u64, Block>, addr: u64, size: u64) {
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
        let Some(Place::Heap { offset: 7, freed: false, .. }) = memory.place(107) else { panic!() };
        assert_eq!(memory.place(108), None);
        assert_eq!(memory.place(99), None);
    }

    #[test]
    fn a_freed_block_is_remembered_until_it_is_reused() {
        let ops = [Op::Alloc { addr: 100, size: 8 }, Op::Free { addr: 100 }];
        assert!(matches!(memory(&ops).place(100), Some(Place::Heap { freed: true, .. })));
        let mut memory = memory(&ops);
        memory.learn(&event(Op::Alloc { addr: 96, size: 32 }));
        assert!(matches!(memory.place(100), Some(Place::Heap { freed: false, offset: 4, .. })));
    }

    #[test]
    fn stacks_belong_to_their_threads() {
        let memory = memory(&[Op::Begin { stack: 4096, size: 4096 }]);
        let on = OnStack { thread: ThreadId(1), index: 0, site: SiteId(7) };
        assert_eq!(memory.place(5000), Some(Place::Stack(on)));
        assert_eq!(memory.place(9000), None);
    }
}
