//! Memory that is freed and allocated again is another variable: RAPID has no allocations, and would
//! take the accesses of two unrelated objects for accesses to one.

use std::collections::BTreeMap;

use norn_model::{BlockEffect, Effect, Event, Op};

/// The blocks that have been allocated so far.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// By first address: the end, and the number of the allocation, from 1.
    blocks: BTreeMap<u64, (u64, u32)>,
}

impl Lives {
    /// Notes an allocation, or the stack of a thread that begins.
    pub(super) fn step(&mut self, event: &Event) {
        if let Effect::Block(BlockEffect::Allocated { addr, size }) = event.op.effect() {
            self.allocate(addr, size);
        } else if let Op::Begin { stack, size } = event.op {
            self.allocate(stack, size);
        }
    }

    fn allocate(&mut self, addr: u64, size: u64) {
        let end = addr.saturating_add(size.max(1));
        let mut number = 0;
        // What overlaps the new block is gone; what is left of it keeps its number.
        let overlapping: Vec<_> = self
            .blocks
            .range(..end)
            .rev()
            .take_while(|it| it.1.0 > addr)
            .map(|(from, (to, number))| (*from, *to, *number))
            .collect();
        for (from, to, known) in overlapping {
            self.blocks.remove(&from);
            number = number.max(known);
            if from < addr {
                self.blocks.insert(from, (addr, known));
            }
            if to > end {
                self.blocks.insert(end, (to, known));
            }
        }
        self.blocks.insert(addr, (end, number + 1));
    }

    /// How often the memory at an address was allocated before its last allocation; 0 for a variable
    /// that has one life.
    pub(super) fn number(&self, addr: u64) -> u32 {
        let block = self.blocks.range(..=addr).next_back().filter(|it| addr < it.1.0);
        block.map_or(0, |it| it.1.1 - 1)
    }
}
