//! Memory that one thread frees after another one has used it for the last time.
//!
//! What keeps the thread from freeing it too early is often a flag or a counter that both access. If the
//! user was interrupted right after it has read that, and the other thread runs to its end, the memory is gone when
//! the user continues. No candidate says so if the freeing thread would go another way on its way there: a
//! container with fewer elements is destroyed by fewer steps.

use std::collections::BTreeMap;

use norn_model::{BlockEffect, Effect, EventId, ThreadId, Trace};

/// The uses of the blocks of a run that another thread frees.
#[derive(Debug, Default)]
pub(super) struct FreedBlocks(Vec<FreedBlock>);

/// A block that is freed.
#[derive(Debug)]
pub(super) struct FreedBlock {
    pub(super) allocated: Option<EventId>,
    pub(super) freed: EventId,
    /// The last use by each other thread.
    uses: BTreeMap<ThreadId, u64>,
}

/// A block that exists.
#[derive(Debug, Default)]
struct Block {
    end: u64,
    allocated: Option<EventId>,
    uses: BTreeMap<ThreadId, u64>,
}

impl FreedBlocks {
    pub(super) fn new(trace: &Trace) -> FreedBlocks {
        let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
        let mut all = Vec::new();
        for event in trace.merged() {
            let effect = event.op.effect();
            match effect {
                Effect::Block(BlockEffect::Allocated { addr, size }) => {
                    let (end, allocated) = (addr.saturating_add(size), Some(event.id));
                    blocks.insert(addr, Block { end, allocated, uses: BTreeMap::new() });
                }
                Effect::Block(BlockEffect::Freed { addr }) => {
                    let Some(Block { allocated, mut uses, .. }) = blocks.remove(&addr) else {
                        continue;
                    };
                    uses.remove(&event.id.thread);
                    if !uses.is_empty() {
                        all.push(FreedBlock { allocated, freed: event.id, uses });
                    }
                }
                _ => {
                    let used = match effect {
                        Effect::Access(it) => Some(it.addr),
                        _ => effect.used_object(),
                    };
                    let block = used.and_then(|it| blocks.range_mut(..=it).next_back());
                    if let (Some((_, block)), Some(used)) = (block, used)
                        && used < block.end
                    {
                        block.uses.insert(event.id.thread, event.id.index);
                    }
                }
            }
        }
        FreedBlocks(all)
    }

    /// What a thread frees after its write and another thread uses after an event.
    pub(super) fn following(
        &self,
        write: EventId,
        seen: EventId,
    ) -> impl Iterator<Item = &FreedBlock> {
        self.0.iter().filter(move |it| {
            it.freed.thread == write.thread
                && it.freed.index > write.index
                && it.uses.get(&seen.thread).is_some_and(|last| *last > seen.index)
        })
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    #[test]
    fn a_block_that_is_used_later_may_be_gone() {
        let run = "order global\nT1 alloc 0x100 8\nT2 load stop 0\nT2 r 0x104 0\nT2 end\n\
                   T1 store stop 1\nT1 free 0x100\nT1 end";
        let trace = text::parse(run).unwrap();
        let freed = FreedBlocks::new(&trace);
        let [one, two] = [0, 1].map(|it| trace.threads[it].id);
        let follow = |write: u64, seen: u64| {
            let write = EventId { thread: one, index: write };
            freed.following(write, EventId { thread: two, index: seen }).count()
        };
        assert_eq!(follow(1, 0), 1);
        // It is not used later, or freed before the write.
        assert_eq!((follow(1, 1), follow(2, 0)), (0, 0));
    }
}
