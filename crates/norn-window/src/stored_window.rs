//! A window in shared memory: a ring of accesses in atomic words.
//!
//! ```text
//! [ state | address of the variable | access 0 .. | time 0 .. ]
//! ```
//!
//! A window begins at a cache line, which usually has all that an access needs that changes nothing.
//! Only the thread that has set [`LOCKED`] changes a window. Others may read it at any time. A process
//! that reads the windows of one that has crashed finds at worst a wrong access: all positions are
//! checked.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Access, AccessKind, Slots, word};

/// The words before the accesses.
const HEAD: usize = 2;
/// The words of a cache line.
const LINE: usize = 8;
/// In the state: a thread changes the window.
pub(crate) const LOCKED: u64 = 1 << 63;
/// In the state: the window belongs to a variable.
pub(crate) const IN_USE: u64 = 1 << 62;
const START: u32 = 8;
const NUMBER: u64 = 0xff;

/// An access in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredAccess {
    /// Thread, epoch, kind and place, as a private variable has them.
    pub(crate) word: u64,
    /// Its time; 0 if the variable was private then, and thus before all others.
    pub(crate) time: u64,
}

impl Access for StoredAccess {
    fn kind(&self) -> AccessKind {
        word::kind(self.word)
    }
    fn thread(&self) -> u32 {
        word::thread(self.word)
    }
    fn epoch(&self) -> u32 {
        word::epoch(self.word)
    }
    fn time(&self) -> u64 {
        self.time
    }
    fn is_same_place(&self, other: &StoredAccess) -> bool {
        word::code(self.word) == word::code(other.word)
    }
    fn at(self, time: u64) -> StoredAccess {
        StoredAccess { time, ..self }
    }
}

/// A window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredWindow<'a> {
    state: &'a AtomicU64,
    addr: &'a AtomicU64,
    accesses: &'a [AtomicU64],
    times: &'a [AtomicU64],
}

impl<'a> StoredWindow<'a> {
    /// The words that a window with this many slots takes.
    pub(crate) const fn words(slots: usize) -> usize {
        (HEAD + 2 * slots).next_multiple_of(LINE)
    }

    /// The window at the beginning of these words; none if there are too few.
    pub(crate) fn new(words: &'a [AtomicU64], slots: usize) -> Option<StoredWindow<'a>> {
        let ([state, addr], rest) = words.split_first_chunk()?;
        let (accesses, rest) = rest.split_at_checked(slots)?;
        let (times, _) = rest.split_at_checked(slots)?;
        Some(StoredWindow { state, addr, accesses, times })
    }

    pub(crate) fn state(&self) -> &'a AtomicU64 {
        self.state
    }

    /// The address of the variable, or the next one of the windows that belong to no variable.
    pub(crate) fn addr(&self) -> &'a AtomicU64 {
        self.addr
    }

    /// Whether an access would leave the window as it is. Needs no lock.
    pub(crate) fn keeps(&self, access: u64) -> bool {
        let (start, len) = self.ends();
        let load = |at: usize| self.accesses.get(at).map_or(0, |it| it.load(Relaxed));
        if len == 0 {
            return false;
        }
        let last = load(self.position(start, len - 1));
        // An access of the thread that made the last one replaces that, even if the window has it elsewhere.
        if word::thread(last) == word::thread(access) {
            let is_read = word::kind(access) == AccessKind::Read;
            return last == access || is_read && word::kind(last) == AccessKind::Write;
        }
        if len < self.accesses.len() || word::kind(access) == AccessKind::Write {
            return false;
        }
        let all = || (0..len).map(load);
        all().any(|it| it == access) && all().all(|it| word::kind(it) == AccessKind::Read)
    }

    /// Makes both contain the same accesses. The caller has both locks.
    pub(crate) fn copy_to(&self, other: &mut StoredWindow<'_>) {
        for at in 0..self.len() {
            other.push(self.get(at));
        }
    }

    /// The position of the oldest access, and the number of accesses.
    fn ends(&self) -> (usize, usize) {
        let state = self.state.load(Relaxed);
        let slots = self.accesses.len();
        let start = (state >> START & NUMBER) as usize;
        (start.min(slots.saturating_sub(1)), ((state & NUMBER) as usize).min(slots))
    }

    fn position(&self, start: usize, at: usize) -> usize {
        let position = start + at;
        if position >= self.accesses.len() { position - self.accesses.len() } else { position }
    }

    fn store(&self, at: usize, access: StoredAccess) {
        if let (Some(word), Some(time)) = (self.accesses.get(at), self.times.get(at)) {
            word.store(access.word, Relaxed);
            time.store(access.time, Relaxed);
        }
    }

    fn set_ends(&self, start: usize, len: usize) {
        let flags = self.state.load(Relaxed) & (LOCKED | IN_USE);
        self.state.store(flags | (start as u64) << START | len as u64, Relaxed);
    }
}

impl Slots for StoredWindow<'_> {
    type Access = StoredAccess;

    fn len(&self) -> usize {
        self.ends().1
    }

    fn get(&self, at: usize) -> StoredAccess {
        let at = self.position(self.ends().0, at);
        let load = |words: &[AtomicU64]| words.get(at).map_or(0, |it| it.load(Relaxed));
        StoredAccess { word: load(self.accesses), time: load(self.times) }
    }

    fn set(&mut self, at: usize, access: StoredAccess) {
        self.store(self.position(self.ends().0, at), access);
    }

    fn push(&mut self, access: StoredAccess) {
        let (start, len) = self.ends();
        if len < self.accesses.len() {
            self.store(self.position(start, len), access);
            self.set_ends(start, len + 1);
        }
    }

    fn evict(&mut self) {
        let (start, len) = self.ends();
        self.set_ends(self.position(start, 1), len.saturating_sub(1));
    }
}
