//! The content of memory, as far as the accesses so far show it.

use norn_model::{MemoryAccess, Value};
use rustc_hash::FxHashMap;

/// Bytes of memory that are stored together.
const WORD: u64 = 8;
/// Longer accesses have no known value.
const MAX_SIZE: u64 = 16;
/// Maximum number of words that a long write makes unknown.
const MAX_WORDS: u64 = 1 << 16;

/// Known bytes of memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By number of the word: the bytes, and which of them are known, as bits.
    words: FxHashMap<u64, (u64, u64)>,
}

/// How a value compares with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// All known bytes are equal, and at least one is known.
    Same,
    /// No byte is known.
    Unknown,
    /// A byte differs.
    Different,
}

impl Memory {
    /// Compares the value of an access with memory.
    pub(super) fn compare(&self, access: MemoryAccess, value: Value) -> Match {
        let mut known = false;
        for (word, bytes, mask) in parts(access, value) {
            let (content, which) = self.words.get(&word).copied().unwrap_or_default();
            if (content ^ bytes) & mask & which != 0 {
                return Match::Different;
            }
            known |= mask & which != 0;
        }
        if known || value.is_none() { Match::Same } else { Match::Unknown }
    }

    /// Notes the value of an access; after a write whose value is not known, memory is unknown.
    pub(super) fn store(&mut self, access: MemoryAccess, value: Value) {
        for (word, bytes, mask) in parts(access, value) {
            let (content, known) = self.words.entry(word).or_default();
            *content = *content & !mask | bytes & mask;
            *known |= mask;
        }
        if value.is_none() || access.size > MAX_SIZE {
            let words = access.addr / WORD..=access.end().saturating_sub(1) / WORD;
            for word in words.take(usize::try_from(MAX_WORDS).unwrap_or(usize::MAX)) {
                self.words.remove(&word);
            }
        }
    }
}

/// The parts of a value by word: its number, the bytes, and which of them belong to the value.
pub(super) fn parts(access: MemoryAccess, value: Value) -> impl Iterator<Item = (u64, u64, u64)> {
    let value = value.filter(|_| access.size <= MAX_SIZE);
    let words = access.addr / WORD..=access.end().saturating_sub(1) / WORD;
    value.into_iter().flat_map(move |value| {
        words.clone().map(move |word| {
            let byte = |at: u64| {
                let offset = (word * WORD + at).checked_sub(access.addr)?;
                let shifted = value.checked_shr(u32::try_from(offset * 8).ok()?)?;
                u64::try_from(shifted & 0xff).ok().filter(|_| offset < access.size)
            };
            (0..WORD).fold((word, 0, 0), |(word, bytes, mask), at| match byte(at) {
                Some(it) => (word, bytes | it << (8 * at), mask | 0xff << (8 * at)),
                None => (word, bytes, mask),
            })
        })
    })
}
