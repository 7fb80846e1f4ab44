//! The patterns of a run: a hash table in shared memory. Lookups take no lock.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::{Match, Moment, PatternKind, StoredAccess, word};

/// The words of an entry: its hash, its kind and address, and the words and times of three accesses.
const ENTRY: usize = 16;
const KIND: usize = 1;
const ADDR: usize = 2;
const ACCESSES: usize = 3;
/// The words of an access.
const ACCESS: usize = 2;
/// The number of entries.
const ENTRIES: usize = 1 << 15;
/// The number of entries that are tried for a pattern.
const TRIES: usize = 128;

/// A pattern of a run, with its first occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPattern {
    /// The address of the variable.
    pub addr: u64,
    found: Match<StoredAccess>,
}

impl FoundPattern {
    /// Its kind.
    pub fn kind(&self) -> PatternKind {
        self.found.kind
    }

    /// The accesses, in order.
    pub fn accesses(&self) -> &[StoredAccess] {
        self.found.accesses()
    }

    /// When it occurred.
    pub fn moment(&self) -> Moment {
        self.found.moment(self.addr)
    }
}

/// The table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternTable<'a> {
    words: &'a [AtomicU64],
}

impl<'a> PatternTable<'a> {
    pub(crate) const WORDS: usize = ENTRY * ENTRIES;

    pub(crate) fn new(words: &'a [AtomicU64]) -> PatternTable<'a> {
        PatternTable { words }
    }

    /// Whether an occurrence is known that is not later.
    pub(crate) fn has_earlier(&self, found: &Match<StoredAccess>, addr: u64) -> bool {
        let place = self.place(found).filter(|it| it.1);
        let known = place.and_then(|it| load(it.0));
        known.is_some_and(|it| it.moment() <= found.moment(addr))
    }

    /// Adds a pattern, or an earlier occurrence of it. The caller has the lock. Returns whether the
    /// pattern is a new one; none if there is no room for it.
    pub(crate) fn add(&self, found: &Match<StoredAccess>, addr: u64) -> Option<bool> {
        if self.has_earlier(found, addr) {
            return Some(false);
        }
        let (entry, is_known) = self.place(found)?;
        let [hash, kind, at, ..] = entry else { return None };
        kind.store(found.kind as u64, Relaxed);
        at.store(addr, Relaxed);
        for (slot, access) in slots(entry).zip(found.accesses()) {
            if let [word, time] = slot {
                word.store(access.word, Relaxed);
                time.store(access.time, Relaxed);
            }
        }
        hash.store(hash_of(found), Release);
        Some(!is_known)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = FoundPattern> + use<'a> {
        self.words.chunks_exact(ENTRY).filter_map(load)
    }

    /// The entry of a pattern, and whether the pattern is in it; otherwise it is free.
    fn place(&self, found: &Match<StoredAccess>) -> Option<(&'a [AtomicU64], bool)> {
        let hash = hash_of(found);
        for step in 0..TRIES {
            let at = (hash as usize >> 1).wrapping_add(step) % ENTRIES * ENTRY;
            let entry = self.words.get(at..at + ENTRY)?;
            match entry.first()?.load(Acquire) {
                0 => return Some((entry, false)),
                it if it == hash && is_it(entry, found) => return Some((entry, true)),
                _ => {}
            }
        }
        None
    }
}

/// The words of the accesses of an entry.
fn slots(entry: &[AtomicU64]) -> impl Iterator<Item = &[AtomicU64]> {
    entry.get(ACCESSES..).unwrap_or(&[]).chunks_exact(ACCESS)
}

fn is_it(entry: &[AtomicU64], found: &Match<StoredAccess>) -> bool {
    let same_kind = entry.get(KIND).is_some_and(|it| it.load(Relaxed) == found.kind as u64);
    same_kind
        && slots(entry)
            .zip(found.accesses())
            .all(|(it, access)| word::code(it[0].load(Relaxed)) == word::code(access.word))
}

fn load(entry: &[AtomicU64]) -> Option<FoundPattern> {
    if entry.first()?.load(Acquire) == 0 {
        return None;
    }
    let kind = entry.get(KIND)?.load(Relaxed);
    let kind = PatternKind::ALL.into_iter().find(|it| *it as u64 == kind)?;
    let mut accesses = [StoredAccess::default(); 3];
    for (slot, access) in slots(entry).zip(&mut accesses) {
        let [word, time] = slot else { continue };
        *access = StoredAccess { word: word.load(Relaxed), time: time.load(Relaxed) };
    }
    let addr = entry.get(ADDR)?.load(Relaxed);
    Some(FoundPattern { addr, found: Match::of(kind, accesses) })
}

/// A hash of what identifies a pattern; never 0.
fn hash_of(found: &Match<StoredAccess>) -> u64 {
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 29
    };
    let codes = found.accesses().iter().map(|it| u64::from(word::code(it.word)));
    codes.fold(mix(0, found.kind as u64 + 1), mix) | 1
}
