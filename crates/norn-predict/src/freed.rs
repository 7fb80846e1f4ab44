//! Memory that one thread frees and another uses.
//!
//! Freeing a block is an access to all of it. Blocks can be large and accesses are many, so this
//! does not use the [filter](crate::shared_filter): a small table contains the pages with memory
//! that other threads free, and only accesses there are examined. A block is one variable, and its
//! number takes the place of a granule's.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::{
    access::{Kind, Touch},
    life::Block,
    outline::Outline,
};

/// Size of a page in bytes, as a power of two.
const PAGE: u32 = 12;
/// Number of slots in the table of pages, as a power of two.
const PLACES: u32 = 16;
/// Maximum number of blocks at lower addresses that may extend to an access. There are more than
/// two only if memory is split differently each time that it is allocated.
const MAX_LOWER_BLOCKS: usize = 8;
/// Several threads free memory of a page.
const SEVERAL: u16 = u16::MAX;

/// The memory that is freed, and by which threads.
#[derive(Debug, Default)]
pub(crate) struct Freed<'a> {
    /// By hash of the page: the number, from 1, of the thread that frees memory there, or several.
    pages: Vec<u16>,
    /// By address: its successive blocks, as ranges of the list.
    groups: Vec<(u64, std::ops::Range<usize>)>,
    blocks: Cow<'a, [Block]>,
}

impl<'a> Freed<'a> {
    /// Indexes blocks, which are sorted by address.
    pub(crate) fn new(blocks: impl Into<Cow<'a, [Block]>>) -> Self {
        let blocks = blocks.into();
        let (mut pages, mut groups): (_, Vec<(u64, std::ops::Range<usize>)>) = Default::default();
        for (at, block) in blocks.iter().enumerate() {
            for (thread, _) in &block.frees {
                mark(&mut pages, block, *thread);
            }
            match groups.last_mut() {
                Some((addr, range)) if *addr == block.addr => range.end = at + 1,
                _ => groups.push((block.addr, at..at + 1)),
            }
        }
        Freed { pages, groups, blocks }
    }

    /// Whether no memory is freed.
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether another thread may free the memory at an address.
    #[inline]
    pub(crate) fn concerns(&self, thread: u16, addr: u64) -> bool {
        let by = self.pages.get(place(addr >> PAGE)).copied().unwrap_or(0);
        by != 0 && by != thread + 1
    }

    /// The block of an access, if another thread frees it. The access happened between two sequence
    /// numbers; of several blocks that fit, the last one is taken. If none fits, the access is to
    /// memory before the first allocation.
    pub(crate) fn block(&self, thread: u16, addr: u64, (after, before): (u64, u64)) -> Option<u64> {
        let below = &self.groups[..self.groups.partition_point(|it| it.0 <= addr)];
        let last = |(_, range): &(u64, std::ops::Range<usize>)| {
            let born = self.blocks[range.clone()].partition_point(|it| it.life.born < before);
            let at = range.start + born.checked_sub(1)?;
            (self.blocks[at].last >= addr).then_some(at)
        };
        let mut lives = below.iter().rev().take(MAX_LOWER_BLOCKS).filter_map(last).peekable();
        let gone = lives.peek().copied()?;
        let at = lives.find(|it| self.blocks[*it].life.died > after).unwrap_or(gone);
        let others = self.blocks[at].frees.iter().any(|it| it.0 != thread);
        others.then_some(at as u64)
    }

    /// The events that free a block: numbers of threads, and indices.
    pub(crate) fn freed_by(&self, block: u64) -> impl Iterator<Item = (u16, u32)> {
        let block = usize::try_from(block).ok().and_then(|it| self.blocks.get(it));
        block.into_iter().flat_map(|it| it.frees.iter().copied())
    }

    /// The events that free blocks which other threads use or free as well.
    pub(crate) fn frees(
        &self,
        uses: &[Touch],
        outlines: &[Outline],
        site: impl Fn(u16, u32) -> (u32, u32),
    ) -> Vec<Touch> {
        let used: FxHashSet<u64> = uses.iter().map(|it| it.granule).collect();
        let blocks = self.blocks.iter().enumerate().map(|(at, it)| (at as u64, it));
        let wanted = blocks.filter(|(at, it)| it.frees.len() > 1 || used.contains(at));
        let touch = |block: u64, (thread, index): (u16, u32)| {
            let outline = &outlines[usize::from(thread)];
            let change = outline.changes[outline.at(index)];
            let (site, stack) = site(thread, index);
            Touch {
                granule: block,
                index,
                site,
                set: change.set,
                section: change.section,
                thread,
                mask: u8::MAX,
                kind: Kind::free(),
                stack,
                epoch: outline.epoch(index),
            }
        };
        wanted.flat_map(|(at, it)| it.frees.iter().map(move |by| touch(at, *by))).collect()
    }
}

fn mark(pages: &mut Vec<u16>, block: &Block, thread: u16) {
    pages.resize(1 << PLACES, 0);
    // A block with more pages than the table has slots marks them all.
    for page in (block.addr >> PAGE..=block.last >> PAGE).take(1 << PLACES) {
        let place = &mut pages[place(page)];
        let same = *place == 0 || *place == thread + 1;
        *place = if same { thread + 1 } else { SEVERAL };
    }
}

#[inline]
fn place(page: u64) -> usize {
    // Fibonacci hashing: the high bits of the product depend on all bits of the page.
    let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES);
    usize::try_from(hash).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::life::Life;

    fn block(addr: u64, size: u64, born: u64, died: u64, by: u16) -> Block {
        let life = Life { born, died };
        Block { addr, last: addr + size - 1, life, frees: smallvec![(by, 0)] }
    }

    #[test]
    fn blocks_are_found_by_place_and_time() {
        let blocks = [
            block(0x1000, 0x5000, 1, 10, 1),
            block(0x1000, 0x100, 11, 20, 1),
            block(0x1200, 0x100, 12, 20, 2),
        ];
        let freed = Freed::new(&blocks[..]);
        assert!(freed.concerns(0, 0x5fff));
        assert!(!freed.concerns(1, 0x3000));
        assert!(freed.concerns(1, 0x1210));
        assert_eq!(freed.block(0, 0x5fff, (5, 5)), Some(0));
        assert_eq!(freed.block(0, 0x5fff, (15, 15)), None);
        assert_eq!(freed.block(0, 0x12ff, (25, 25)), Some(2));
        assert_eq!(freed.block(0, 0x1010, (15, 15)), Some(1));
        assert_eq!(freed.block(1, 0x1010, (15, 15)), None);
        assert_eq!(freed.block(0, 0x1210, (15, 15)), Some(2));
        assert_eq!(freed.block(0, 0x1210, (5, 6)), Some(0));
    }
}
