//! Shadow memory: what the threads of a running program have done to its variables.
//!
//! Most memory is private to a thread. A [word](crate::word) for each four bytes then has the last
//! access, which the thread's next access replaces or keeps, without a lock and without any call
//! ([`Shadow::access_private`]). With the first access of a second thread the variable gets a window in
//! the [shared memory](Shared). Where accesses are smaller than four bytes, each byte has a word of its
//! own. That gives the same patterns as a window for each byte of memory.
//!
//! The words are in leaves of one size, each for a [region](REGION) of the program's memory, which are
//! taken from a pool when the region is first accessed.
//!
//! A thread changes the word of its private variable with a plain store. If another thread accesses the
//! variable for the first time between the load and the store, that access is lost.
use core::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use crate::{
    AccessKind, Ancestry, Counter, Shared, StoredAccess, ThreadWord,
    granule::{self, GRANULE, granules},
    word::{self, Meaning, meaning},
};

/// The bytes of the program's memory that a leaf describes.
pub const REGION: usize = 1 << 16;
/// The bytes that a word of a leaf describes.
pub(crate) const UNIT: usize = 4;
/// The words of a leaf.
pub const LEAF_WORDS: usize = REGION / UNIT;
/// The words of a unit whose bytes differ.
const CELL: usize = UNIT;
/// How often a change is tried again because another thread was faster.
const TRIES: u32 = 64;

/// The shadow memory of a program.
#[derive(Clone, Copy, Debug)]
pub struct Shadow<'a> {
    /// The leaf of each region: its position in the pool, or 0.
    pub(crate) top: &'a [AtomicU64],
    /// Leaves and cells. The first leaf is always empty, for regions that have none.
    pub(crate) pool: &'a [AtomicU64],
    /// The number of words of the pool that are taken.
    taken: &'a AtomicU64,
    /// Windows and patterns.
    pub shared: Shared<'a>,
}

/// An access to several words.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    by: ThreadWord,
    write: bool,
    /// The lower half of the address of the code.
    code: u32,
    time: u64,
}

impl Recorded {
    fn stored(self) -> StoredAccess {
        StoredAccess { word: self.by.private(self.write, self.code), time: self.time }
    }
}

impl<'a> Shadow<'a> {
    /// Shadow memory in these words, which are 0 at first.
    pub fn new(
        [top, pool]: [&'a [AtomicU64]; 2],
        taken: &'a AtomicU64,
        shared: Shared<'a>,
    ) -> Shadow<'a> {
        taken.fetch_max(LEAF_WORDS as u64, Relaxed);
        Shadow { top, pool, taken, shared }
    }

    /// Whether the unit at an address has a window, or bytes of it may have one.
    pub fn is_shared(&self, addr: usize) -> bool {
        let leaf = self.top.get(addr / REGION).map_or(0, |it| it.load(Relaxed)) as usize;
        let unit = self.pool.get(leaf + addr % REGION / UNIT).map_or(0, |it| it.load(Relaxed));
        matches!(meaning(unit), Meaning::Shared(_) | Meaning::Pair(_) | Meaning::Split(_))
    }

    /// Records an access to any memory. Its time is later than that of all before it.
    pub fn access(
        &self,
        by: ThreadWord,
        (addr, size): (u64, u64),
        kind: AccessKind,
        (pc, time): (u64, u64),
    ) {
        if granule::is_sampled(addr, size) {
            self.shared.count(Counter::Sampled);
        }
        let access = Recorded { by, write: kind == AccessKind::Write, code: pc as u32, time };
        for granule in granules(addr, size) {
            let mask = granule::mask(granule, addr, size);
            let start = granule * GRANULE;
            if mask != u8::MAX || !self.pair(start, access) {
                self.unit(start, mask & 0xf, access);
                self.unit(start + UNIT as u64, mask >> 4, access);
            }
        }
    }

    /// The variables of a block end: its memory belongs to others from now on.
    pub fn end_block(&self, addr: u64, size: u64) {
        self.each_word((addr, size), |word, at| self.end(word, at));
    }

    /// A block is freed: as bad for its users as a write. Its variables stay until the memory is
    /// allocated again, for uses after this.
    pub fn free_block(&self, by: ThreadWord, (addr, size): (u64, u64), (pc, time): (u64, u64)) {
        let access = Recorded { by, write: true, code: pc as u32, time };
        self.each_word((addr, size), |word, at| self.update(word, at, access));
    }

    /// Visits the words of a block that are not empty.
    fn each_word(&self, (addr, size): (u64, u64), visit: impl Fn(&AtomicU64, u64)) {
        // Allocators align blocks: the rest of a block's last granule belongs to no other block.
        let first = (addr / GRANULE * GRANULE) as usize;
        let end = addr.saturating_add(size).next_multiple_of(GRANULE) as usize;
        let mut at = first;
        while at < end {
            let next = (at / REGION + 1).saturating_mul(REGION).min(end);
            let leaf = self.top.get(at / REGION).map_or(0, |it| it.load(Acquire)) as usize;
            let from = leaf + at % REGION / UNIT;
            let units = self.pool.get(from..from + (next - at) / UNIT).unwrap_or(&[]);
            for (unit, number) in units.iter().zip(0..).filter(|_| leaf != 0) {
                self.each_part(unit, (at + number * UNIT) as u64, &visit);
            }
            at = next;
        }
    }

    fn each_part(&self, unit: &AtomicU64, at: u64, visit: &impl Fn(&AtomicU64, u64)) {
        match meaning(unit.load(Acquire)) {
            Meaning::Empty => {}
            Meaning::Split(cell) => {
                let words = self.cell(cell).iter().zip(0..);
                words
                    .filter(|it| it.0.load(Relaxed) != 0)
                    .for_each(|(it, byte)| visit(it, at + byte));
            }
            Meaning::Private | Meaning::Shared(_) | Meaning::Pair(_) => visit(unit, at),
        }
    }

    fn cell(&self, cell: u64) -> &'a [AtomicU64] {
        let at = cell as usize;
        self.pool.get(at..at + CELL).unwrap_or(&[])
    }

    /// Records an access to both units of a granule, if they are one variable that is shared, or will
    /// be with this access. Returns false if they are not.
    fn pair(&self, start: u64, access: Recorded) -> bool {
        let Some([low, high]) = self.granule(start) else { return false };
        for _ in 0..TRIES {
            let before = low.load(Acquire);
            if high.load(Acquire) != before {
                return false;
            }
            match meaning(before) {
                Meaning::Pair(window) => {
                    if self.shared.record(window, start, access.stored()) {
                        return true;
                    }
                }
                Meaning::Private if word::thread(before) != access.by.thread() => {
                    let Some(next) = self.second_thread(before, start, access) else {
                        return false;
                    };
                    let next = match meaning(next) {
                        Meaning::Shared(window) => word::pair(window),
                        _ => next,
                    };
                    for unit in [low, high] {
                        // If another thread was faster, the words differ, and are treated apart.
                        let _ = unit.compare_exchange(before, next, AcqRel, Relaxed);
                    }
                    if meaning(next) == Meaning::Private {
                        return true;
                    }
                }
                _ => return false,
            }
        }
        false
    }

    /// The words of the two units of a granule.
    fn granule(&self, start: u64) -> Option<[&'a AtomicU64; 2]> {
        Some([self.unit_word(start)?, self.unit_word(start + UNIT as u64)?])
    }

    /// Makes the two units of a granule two variables, with copies of their window.
    fn separate(&self, start: u64) {
        let Some([low, high]) = self.granule(start) else { return };
        for _ in 0..TRIES {
            let (one, other) = (low.load(Acquire), high.load(Acquire));
            let Meaning::Pair(window) = meaning(if one == other { one } else { 0 }) else {
                break;
            };
            let copy = self.shared.copy_window(window, start, start + UNIT as u64);
            let copy = copy.map_or(0, word::shared);
            if high.compare_exchange(other, copy, AcqRel, Relaxed).is_ok() {
                let _ = low.compare_exchange(one, word::shared(window), AcqRel, Relaxed);
                return;
            }
        }
        // Only one of the words is left of a pair, because threads interfered.
        for unit in [low, high] {
            let word = unit.load(Acquire);
            if matches!(meaning(word), Meaning::Pair(_)) {
                let _ = unit.compare_exchange(word, 0, AcqRel, Relaxed);
            }
        }
    }

    /// Records an access to some bytes of a unit.
    fn unit(&self, at: u64, bytes: u8, access: Recorded) {
        const ALL: u8 = (1 << UNIT) - 1;
        if bytes == 0 {
            return;
        }
        let Some(unit) = self.unit_word(at) else { return self.shared.count(Counter::Missed) };
        for _ in 0..TRIES {
            let before = unit.load(Acquire);
            match meaning(before) {
                Meaning::Split(cell) => {
                    let words = self.cell(cell).iter().zip(0..);
                    for (word, byte) in words.filter(|it| bytes & 1 << it.1 != 0) {
                        self.update(word, at + byte, access);
                    }
                    return;
                }
                Meaning::Pair(_) => self.separate(at / GRANULE * GRANULE),
                _ if bytes == ALL => return self.update(unit, at, access),
                state => {
                    if !self.split(unit, (before, state), at) {
                        break;
                    }
                }
            }
        }
        self.shared.count(Counter::Missed);
    }

    /// The word of a unit. Takes a leaf for its region if there is none.
    fn unit_word(&self, at: u64) -> Option<&'a AtomicU64> {
        let at = usize::try_from(at).ok()?;
        let entry = self.top.get(at / REGION)?;
        let mut leaf = entry.load(Acquire);
        if leaf == 0 {
            let new = self.take(LEAF_WORDS)?;
            leaf = entry.compare_exchange(0, new, AcqRel, Acquire).err().unwrap_or(new);
        }
        self.pool.get(leaf as usize + at % REGION / UNIT)
    }

    /// Takes words from the pool.
    fn take(&self, words: usize) -> Option<u64> {
        let taken = self.taken.load(Relaxed) as usize;
        if taken + words > self.pool.len() {
            return None;
        }
        let at = self.taken.fetch_add(words as u64, Relaxed);
        (at as usize + words <= self.pool.len()).then_some(at)
    }

    /// Gives each byte of a unit a word of its own. Returns false if there is no room.
    fn split(&self, unit: &AtomicU64, (before, state): (u64, Meaning), at: u64) -> bool {
        let Some(cell) = self.take(CELL) else { return false };
        for (word, byte) in self.cell(cell).iter().zip(0..) {
            let part = match state {
                Meaning::Shared(window) if byte > 0 => {
                    match self.shared.copy_window(window, at, at + byte) {
                        Some(copy) => word::shared(copy),
                        None => return false,
                    }
                }
                _ => before,
            };
            word.store(part, Relaxed);
        }
        // If another thread was faster, the cell is lost, which is rare.
        let _ = unit.compare_exchange(before, word::split(cell), AcqRel, Relaxed);
        true
    }

    /// Records an access to a variable: a unit, or a byte of one.
    fn update(&self, word: &AtomicU64, at: u64, access: Recorded) {
        let Recorded { by, write, code, .. } = access;
        for _ in 0..TRIES {
            let before = word.load(Acquire);
            let next = match meaning(before) {
                Meaning::Empty => by.private(write, code),
                Meaning::Private if word::thread(before) == by.thread() => {
                    by.next(before, write, code).unwrap_or(before)
                }
                Meaning::Private => match self.second_thread(before, at, access) {
                    Some(next) => next,
                    None => break,
                },
                // The block that is freed has both units; they have one window.
                Meaning::Pair(_) if !at.is_multiple_of(GRANULE) => return,
                Meaning::Shared(window) | Meaning::Pair(window) => {
                    if self.shared.record(window, at, access.stored()) {
                        return;
                    }
                    continue;
                }
                // Only units are split, and the caller has found that this one is not.
                Meaning::Split(_) => break,
            };
            let changed =
                before == next || word.compare_exchange(before, next, AcqRel, Acquire).is_ok();
            match (changed, meaning(next)) {
                // The window has the first thread's access; this one is recorded in the next round.
                (true, Meaning::Shared(_)) => {}
                (true, _) => return,
                (false, Meaning::Shared(window)) => self.shared.remove_window(window),
                (false, _) => {}
            }
        }
        self.shared.count(Counter::Missed);
    }

    /// The next word of another thread's private variable: it is handed over, or shared from now on.
    fn second_thread(&self, before: u64, at: u64, access: Recorded) -> Option<u64> {
        let first = StoredAccess { word: before, time: 0 };
        if self.shared.is_before(&first, &access.stored()) {
            return Some(access.stored().word);
        }
        self.shared.add_window(at, Some(first)).map(word::shared)
    }

    /// Ends a variable.
    fn end(&self, word: &AtomicU64, at: u64) {
        match meaning(word.swap(0, AcqRel)) {
            Meaning::Shared(window) => self.shared.end(window, at),
            Meaning::Pair(window) if at.is_multiple_of(GRANULE) => self.shared.end(window, at),
            _ => {}
        }
    }
}
