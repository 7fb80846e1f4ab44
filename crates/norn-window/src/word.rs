//! A word of shadow memory: what is known of four bytes of the program's memory, or of one byte.
//!
//! ```text
//! bits 63-62  61     60-48   47-32    31-0
//!      1      write  epoch   thread   code address     private: the last access of its only thread
//!      2      pair   index                             shared: its window
//!      3      -      index                             split: a word for each of the four bytes
//! ```
//!
//! An empty word is 0. Of the address of the code only the lower half fits; the upper half is in a
//! table of its own ([`Shared`](crate::Shared)). Windows have accesses in the form of private words.
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]

use crate::{AccessKind, LAST_EPOCH};

const PRIVATE: u32 = 1 << 30;
const SHARED: u64 = 2 << 62;
const SPLIT: u64 = 3 << 62;
const TAG: u64 = 3 << 62;
const PAIR: u64 = 1 << 61;
const WRITE: u32 = 1 << 29;
const EPOCH: u32 = LAST_EPOCH << 16;

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nobody has accessed the bytes.
    Empty,
    /// One thread has.
    Private,
    /// Several threads have: the number of the window.
    Shared(u64),
    /// The same, for eight bytes whose words are equal.
    Pair(u64),
    /// The bytes differ: the position of their words.
    Split(u64),
}

pub(crate) fn meaning(word: u64) -> Meaning {
    match word & TAG {
        SHARED if word & PAIR != 0 => Meaning::Pair(word & !(TAG | PAIR)),
        SHARED => Meaning::Shared(word & !TAG),
        SPLIT => Meaning::Split(word & !TAG),
        0 => Meaning::Empty,
        _ => Meaning::Private,
    }
}

pub(crate) fn shared(window: u64) -> u64 {
    SHARED | window
}

pub(crate) fn pair(window: u64) -> u64 {
    SHARED | PAIR | window
}

pub(crate) fn split(cell: u64) -> u64 {
    SPLIT | cell
}

/// The thread of a private word.
pub(crate) fn thread(word: u64) -> u32 {
    (word >> 32) as u32 & 0xffff
}

/// The epoch of a private word.
pub(crate) fn epoch(word: u64) -> u32 {
    ((word >> 32) as u32 & EPOCH) >> 16
}

/// The kind of access of a private word.
pub(crate) fn kind(word: u64) -> AccessKind {
    match (word >> 32) as u32 & WRITE {
        0 => AccessKind::Read,
        _ => AccessKind::Write,
    }
}

/// The lower half of the address of the code of a private word.
pub(crate) fn code(word: u64) -> u32 {
    word as u32
}

/// A thread, as it appears in the words of its private variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadWord(u32);

impl ThreadWord {
    /// The largest number of a thread.
    pub const LAST: u32 = 0xffff;

    /// A thread in its first epoch; none if its number is too large.
    pub fn new(thread: u32) -> Option<ThreadWord> {
        (thread <= ThreadWord::LAST).then_some(ThreadWord(PRIVATE | thread))
    }

    /// From [`ThreadWord::bits`].
    #[inline(always)]
    pub fn from_bits(bits: u32) -> ThreadWord {
        ThreadWord(bits)
    }

    /// As a number, which is 0 for no thread.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The number of the thread.
    pub fn thread(self) -> u32 {
        self.0 & 0xffff
    }

    /// The epoch of the thread.
    pub fn epoch(self) -> u32 {
        (self.0 & EPOCH) >> 16
    }

    /// The same thread in another epoch.
    #[must_use]
    pub fn in_epoch(self, epoch: u32) -> ThreadWord {
        ThreadWord(self.0 & !EPOCH | epoch.min(LAST_EPOCH) << 16)
    }

    /// The word of a variable that this thread alone accesses.
    #[inline(always)]
    pub(crate) fn private(self, write: bool, code: u32) -> u64 {
        let high = if write { self.0 | WRITE } else { self.0 };
        u64::from(high) << 32 | u64::from(code)
    }

    /// The next word of a variable that this thread alone accesses; none if the variable is not one,
    /// or new. This is what [`record`](crate::record) does to a window with one access.
    #[inline(always)]
    pub(crate) fn next(self, word: u64, write: bool, code: u32) -> Option<u64> {
        let differs = ((word >> 32) as u32 ^ self.0) & !EPOCH;
        if differs & !WRITE != 0 {
            return None;
        }
        // A read does not replace a write.
        Some(if !write && differs != 0 { word } else { self.private(write, code) })
    }
}
