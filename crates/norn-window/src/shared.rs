//! The memory that a program shares with the process that reads its patterns: the windows of its
//! shared variables, the patterns found so far, and which thread created and joined which one.
//!
//! It survives the program, however that ends: the reader then drains the windows ([`Shared::finish`]).

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::{
    Ancestry, FoundPattern, Link, MIN_WINDOW, Match, StoredAccess, ThreadWord, drain,
    pattern_table::PatternTable,
    record,
    stored_window::{IN_USE, LOCKED, StoredWindow},
    word,
};

/// Numbers at the start of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Number of slots of a window.
    Slots,
    /// Number of windows that were ever used.
    Windows,
    /// The first window that belongs to no variable, plus 1.
    Unused,
    /// Taken while windows are given out or returned.
    UnusedLock,
    /// Taken while a pattern is added or changed.
    PatternLock,
    /// Number of accesses that were not observed, because memory or patience ended.
    Missed,
    /// Number of accesses that are so long that only some of their bytes were looked at.
    Sampled,
    /// The process whose patterns are collected, plus 1.
    Process,
    /// Number of other processes.
    OtherProcesses,
    /// The seed of random delays.
    DelaySeed,
    /// Number of accesses and calls among which one is delayed, on average; 0 for no delays.
    DelayEvery,
    /// The longest delay in nanoseconds.
    DelayLimit,
    /// The length of all delays in nanoseconds.
    Delays,
    /// Number of patterns that were added.
    Patterns,
    /// Number of accesses at frequent sites that were left out, of threads that have ended.
    LeftOut,
}

/// The words of the counters.
const HEAD: usize = 64;
/// The words of a table with an entry for each thread.
const THREADS: usize = ThreadWord::LAST as usize + 1;
/// The entries of the table of code addresses.
const HIGH: usize = 1 << 16;
/// In the entry of a thread: it was created, or joined.
const LINKED: u64 = 1 << 63;

/// How often a thread looks for a lock to be free before it gives up. A signal handler may interrupt
/// the thread that has the lock, and would wait for ever.
const PATIENCE: u32 = 1 << 14;

/// The shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    head: &'a [AtomicU64],
    created: &'a [AtomicU64],
    joined: &'a [AtomicU64],
    patterns: PatternTable<'a>,
    /// The upper half of code addresses by the upper half of their lower half, plus 1.
    high: &'a [AtomicU64],
    windows: &'a [AtomicU64],
    /// Called between two looks for a lock, with the number of looks so far.
    wait: fn(u32),
}

impl<'a> Shared<'a> {
    /// The words that are needed before those of the windows.
    pub const WORDS: usize = HEAD + 2 * THREADS + HIGH + PatternTable::WORDS;

    /// The memory in these words, which are 0 at first; none if there are too few.
    pub fn new(words: &'a [AtomicU64], wait: fn(u32)) -> Option<Shared<'a>> {
        let (head, rest) = words.split_at_checked(HEAD)?;
        let (created, rest) = rest.split_at_checked(THREADS)?;
        let (joined, rest) = rest.split_at_checked(THREADS)?;
        let (high, rest) = rest.split_at_checked(HIGH)?;
        let (patterns, windows) = rest.split_at_checked(PatternTable::WORDS)?;
        let patterns = PatternTable::new(patterns);
        Some(Shared { head, created, joined, patterns, high, windows, wait })
    }

    /// One of the numbers at the start.
    #[inline]
    pub fn counter(&self, counter: Counter) -> &'a AtomicU64 {
        &self.head[counter as usize]
    }

    /// Adds one to a number.
    pub fn count(&self, counter: Counter) {
        self.counter(counter).fetch_add(1, Relaxed);
    }

    /// Announces code, so that accesses can refer to it. Code that shares the lower half of its
    /// addresses with other code cannot be told apart from it, and keeps only that half.
    pub fn add_code(&self, start: u64, end: u64) {
        for page in start >> 16..end.div_ceil(1 << 16) {
            let Some(entry) = self.high.get((page & 0xffff) as usize) else { return };
            let high = (page >> 16) + 1;
            let before = entry.swap(high, Relaxed);
            if before != 0 && before != high {
                entry.store(1, Relaxed);
            }
        }
    }

    /// The address of the code of an access.
    pub fn pc(&self, access: &StoredAccess) -> u64 {
        let code = word::code(access.word);
        let entry = self.high.get((code >> 16) as usize).map_or(0, |it| it.load(Relaxed));
        entry.saturating_sub(1) << 32 | u64::from(code)
    }

    fn slots(&self) -> usize {
        (self.counter(Counter::Slots).load(Relaxed) as usize).clamp(MIN_WINDOW, crate::MAX_WINDOW)
    }

    /// A thread creates another one, which does not run yet. Returns the first thread's next epoch.
    pub fn fork(&self, thread: ThreadWord, child: u32) -> ThreadWord {
        link(self.created, child, Link::creation(thread.thread(), thread.epoch()));
        thread.in_epoch(Link::next(thread.epoch()))
    }

    /// A thread has waited for the end of another one. Returns the first thread's next epoch.
    pub fn join(&self, thread: ThreadWord, child: u32) -> ThreadWord {
        if linked(self.joined, child).is_none() {
            link(self.joined, child, Link::join(thread.thread(), thread.epoch()));
        }
        thread.in_epoch(Link::next(thread.epoch()))
    }

    fn window(&self, index: u64) -> Option<StoredWindow<'a>> {
        let slots = self.slots();
        let at = usize::try_from(index).ok()?.checked_mul(StoredWindow::words(slots))?;
        StoredWindow::new(self.windows.get(at..)?, slots)
    }

    /// A window for the variable at an address, with its first access. None if the memory is full.
    pub(crate) fn add_window(&self, addr: u64, first: Option<StoredAccess>) -> Option<u64> {
        let index = self.with_lock(Counter::UnusedLock, || self.take_window())??;
        let mut window = self.window(index)?;
        window.state().store(0, Relaxed);
        window.addr().store(addr, Relaxed);
        if let Some(first) = first {
            crate::Slots::push(&mut window, first);
        }
        window.state().fetch_or(IN_USE, Release);
        Some(index)
    }

    fn take_window(&self) -> Option<u64> {
        let unused = self.counter(Counter::Unused);
        if let Some(index) = unused.load(Relaxed).checked_sub(1) {
            unused.store(self.window(index)?.addr().load(Relaxed), Relaxed);
            return Some(index);
        }
        let count = self.counter(Counter::Windows);
        let index = count.load(Relaxed);
        self.window(index)?;
        count.store(index + 1, Relaxed);
        Some(index)
    }

    /// Returns a window that belongs to no variable any more.
    pub(crate) fn remove_window(&self, index: u64) {
        let Some(window) = self.window(index) else { return };
        let removed = self.with_lock(Counter::UnusedLock, || {
            window.state().store(0, Relaxed);
            let unused = self.counter(Counter::Unused);
            window.addr().store(unused.load(Relaxed), Relaxed);
            unused.store(index + 1, Relaxed);
        });
        if removed.is_none() {
            self.count(Counter::Missed);
        }
    }

    /// Records an access to the variable at an address, if that is still the window's. Returns whether
    /// it is; an access that is not recorded because the lock was not free counts as missed.
    pub(crate) fn record(&self, index: u64, addr: u64, access: StoredAccess) -> bool {
        let Some(window) = self.window(index) else { return false };
        if window.keeps(access.word) {
            return true;
        }
        self.change(index, addr, |window| {
            let note = &mut |found| self.note(&found, addr);
            record(window, access, self.slots(), self, note);
        })
    }

    /// Whether an access would leave a window as it is. Needs no lock.
    pub(crate) fn keeps(&self, index: u64, access: u64) -> bool {
        self.window(index).is_some_and(|it| it.keeps(access))
    }

    /// Makes a copy of a window for a variable that was part of another one.
    pub(crate) fn copy_window(&self, index: u64, addr: u64, to: u64) -> Option<u64> {
        let mut copy = None;
        let is_there = self.change(index, addr, |window| {
            copy = self.add_window(to, None);
            if let Some(mut other) = copy.and_then(|it| self.window(it)) {
                window.copy_to(&mut other);
            }
        });
        copy.filter(|_| is_there)
    }

    /// Reports the patterns of a variable that ends, and returns its window.
    pub(crate) fn end(&self, index: u64, addr: u64) {
        let ended = self.change(index, addr, |window| {
            drain(window, &mut |found| self.note(&found, addr));
            window.state().fetch_and(!IN_USE, Relaxed);
        });
        if ended {
            self.remove_window(index);
        }
    }

    /// Changes a window under its lock. Returns whether it is the one of the variable at `addr`.
    fn change(&self, index: u64, addr: u64, change: impl FnOnce(&mut StoredWindow<'a>)) -> bool {
        let Some(mut window) = self.window(index) else { return false };
        let state = window.state();
        if !self.lock(state) {
            self.count(Counter::Missed);
            return true;
        }
        let is_its = state.load(Relaxed) & IN_USE != 0 && window.addr().load(Relaxed) == addr;
        if is_its {
            change(&mut window);
        }
        // Nobody else changes the state of a locked window.
        state.store(state.load(Relaxed) & !LOCKED, Release);
        is_its
    }

    fn lock(&self, word: &AtomicU64) -> bool {
        for look in 0..PATIENCE {
            if word.load(Relaxed) & LOCKED == 0 && word.fetch_or(LOCKED, Acquire) & LOCKED == 0 {
                return true;
            }
            (self.wait)(look);
        }
        false
    }

    fn with_lock<T>(&self, lock: Counter, change: impl FnOnce() -> T) -> Option<T> {
        let word = self.counter(lock);
        if !self.lock(word) {
            return None;
        }
        let result = change();
        word.fetch_and(!LOCKED, Release);
        Some(result)
    }

    /// Keeps the first occurrence of a pattern, unless its order is fixed. Windows slide late, so the
    /// order of reports is not the order of occurrence.
    fn note(&self, found: &Match<StoredAccess>, addr: u64) {
        if self.patterns.has_earlier(found, addr) || self.is_fixed(found) {
            return;
        }
        let added = self.with_lock(Counter::PatternLock, || self.patterns.add(found, addr));
        match added.flatten() {
            Some(true) => self.count(Counter::Patterns),
            Some(false) => {}
            None => self.count(Counter::Missed),
        }
    }

    /// Drains all windows of a program that has ended, which may have had any of the locks.
    pub fn finish(&self) {
        for lock in [Counter::UnusedLock, Counter::PatternLock] {
            self.counter(lock).store(0, Relaxed);
        }
        for index in 0..self.counter(Counter::Windows).load(Relaxed) {
            let Some(mut window) = self.window(index) else { return };
            let addr = window.addr().load(Relaxed);
            if window.state().load(Relaxed) & IN_USE != 0 {
                drain(&mut window, &mut |found| self.note(&found, addr));
            }
        }
    }

    /// The patterns so far, each once, in no order.
    pub fn patterns(&self) -> impl Iterator<Item = FoundPattern> {
        self.patterns.iter()
    }
}

impl Ancestry for Shared<'_> {
    fn created(&self, thread: u32) -> Option<Link> {
        linked(self.created, thread)
    }

    fn joined(&self, thread: u32) -> Option<Link> {
        linked(self.joined, thread)
    }
}

fn link(table: &[AtomicU64], thread: u32, link: Link) {
    if let Some(entry) = table.get(thread as usize) {
        entry.store(LINKED | u64::from(link.by) << 32 | u64::from(link.epoch), Release);
    }
}

fn linked(table: &[AtomicU64], thread: u32) -> Option<Link> {
    let entry = table.get(thread as usize)?.load(Acquire);
    let by = (entry & !LINKED) >> 32;
    (entry & LINKED != 0).then_some(Link { by: by as u32, epoch: entry as u32 })
}
