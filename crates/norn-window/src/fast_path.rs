//! What hooks do at every access: decide whether it changes anything that other threads need to know.
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]

use core::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::{
    REGION, Shadow, ThreadWord,
    shadow::UNIT,
    word::{Meaning, meaning},
};

impl Shadow<'_> {
    /// Records an access of up to eight bytes, if it is aligned and the memory is private to the thread.
    /// Otherwise it returns false, and has recorded nothing.
    #[inline(always)]
    pub fn access_private(
        &self,
        by: ThreadWord,
        (addr, log2): (usize, u16),
        write: bool,
        pc: usize,
    ) -> bool {
        let is_aligned = addr & ((1 << log2) - 1) == 0;
        let Some(leaf) = self.top.get(addr / REGION).filter(|_| is_aligned) else { return false };
        let at = leaf.load(Relaxed) as usize + addr % REGION / UNIT;
        match log2 {
            2 => self.replace([at], by, write, pc),
            3 => self.replace([at, at + 1], by, write, pc),
            _ => self.access_bytes(at, by, (addr, log2), write, pc),
        }
    }

    #[inline(always)]
    fn access_bytes(
        &self,
        at: usize,
        by: ThreadWord,
        (addr, log2): (usize, u16),
        write: bool,
        pc: usize,
    ) -> bool {
        let Some(unit) = self.pool.get(at) else { return false };
        let Meaning::Split(cell) = meaning(unit.load(Relaxed)) else { return false };
        let at = cell as usize + addr % UNIT;
        match log2 {
            0 => self.replace([at], by, write, pc),
            1 => self.replace([at, at + 1], by, write, pc),
            _ => false,
        }
    }

    /// Replaces the words of a thread's own variables.
    #[inline(always)]
    fn replace<const N: usize>(
        &self,
        at: [usize; N],
        by: ThreadWord,
        write: bool,
        pc: usize,
    ) -> bool {
        let mut next = [0; N];
        for (at, next) in at.into_iter().zip(&mut next) {
            let Some(word) = self.pool.get(at) else { return false };
            let Some(new) = by.next(word.load(Relaxed), write, pc as u32) else { return false };
            *next = new;
        }
        for (at, next) in at.into_iter().zip(next) {
            let Some(word) = self.pool.get(at) else { return false };
            // A cache line that does not change need not be written back.
            if word.load(Relaxed) != next {
                word.store(next, Relaxed);
            }
        }
        true
    }

    /// Whether a small access to a shared variable changes nothing: neither its time nor a lock is needed
    /// then. False if that is not known.
    pub fn is_kept(
        &self,
        by: ThreadWord,
        (addr, size): (usize, usize),
        write: bool,
        pc: usize,
    ) -> bool {
        let Some(leaf) = self.top.get(addr / REGION) else { return false };
        let unit = self.pool.get(leaf.load(Relaxed) as usize + addr % REGION / UNIT);
        let window = match unit.map(|it| meaning(it.load(Acquire))) {
            Some(Meaning::Shared(window)) if size == UNIT && addr.is_multiple_of(UNIT) => window,
            Some(Meaning::Pair(window)) if size == 8 && addr.is_multiple_of(8) => window,
            _ => return false,
        };
        self.shared.keeps(window, by.private(write, pc as u32))
    }
}
