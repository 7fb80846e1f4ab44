//! The pointers to heap blocks that a program has written to memory: they tell blocks of the same type
//! apart, as the program does.

use rustc_hash::FxHashMap;

/// Maximum number of pointers that are kept for a block: the oldest ones.
const MAX_POINTERS: usize = 8;

/// Maximum number of bytes of one write in which pointers are looked for, to forget them.
const MAX_OVERWRITTEN: u64 = 256;

/// The pointers to the beginnings of heap blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pointers {
    /// By address of the pointer: the block.
    targets: FxHashMap<u64, u64>,
    /// By block: the addresses of pointers to it. Some may have been overwritten since.
    of_block: FxHashMap<u64, Vec<u64>>,
}

impl Pointers {
    /// A pointer to a block, or something else, is written to these bytes.
    pub(crate) fn store(&mut self, (addr, size): (u64, u64), block: Option<u64>) {
        let Some(block) = block else {
            for word in (0..size.clamp(1, MAX_OVERWRITTEN)).step_by(8) {
                self.targets.remove(&addr.wrapping_add(word));
            }
            return;
        };
        if self.targets.insert(addr, block) != Some(block) {
            let Pointers { targets, of_block } = self;
            let all = of_block.entry(block).or_default();
            all.retain(|it| *it != addr && targets.get(it) == Some(&block));
            all.push(addr);
            all.truncate(MAX_POINTERS);
        }
    }

    /// A block is allocated: what pointed to its address before points to nothing.
    pub(crate) fn forget(&mut self, block: u64) {
        for pointer in self.of_block.remove(&block).unwrap_or_default() {
            self.targets.remove(&pointer);
        }
    }

    /// The addresses of the pointers to a block, in the order in which they were written.
    pub(crate) fn to(&self, block: u64) -> impl Iterator<Item = u64> {
        let all = self.of_block.get(&block).into_iter().flatten().copied();
        all.filter(move |it| self.targets.get(it) == Some(&block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overwritten_pointer_points_to_the_other_block() {
        let mut pointers = Pointers::default();
        pointers.store((8, 8), Some(100));
        pointers.store((16, 8), Some(100));
        pointers.store((8, 8), Some(200));
        assert_eq!(pointers.to(100).collect::<Vec<_>>(), [16]);
        assert_eq!(pointers.to(200).collect::<Vec<_>>(), [8]);
        pointers.store((16, 8), None);
        assert_eq!(pointers.to(100).count(), 0);
    }

    #[test]
    fn pointers_to_freed_memory_do_not_point_to_its_next_block() {
        let mut pointers = Pointers::default();
        pointers.store((8, 8), Some(100));
        pointers.forget(100);
        assert_eq!(pointers.to(100).count(), 0);
        pointers.store((8, 8), Some(100));
        assert_eq!(pointers.to(100).collect::<Vec<_>>(), [8]);
    }
}
