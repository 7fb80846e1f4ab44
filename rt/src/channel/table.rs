//! A table of numbers by key, without locks and of a fixed size. It knows which sockets are connected,
//! and which files an epoll instance watches. If it is full, an old entry is replaced: then an order
//! between threads may not be recorded.

use core::sync::atomic::{AtomicU64, Ordering};

const SIZE: usize = 4096;
/// How many entries a key may be in.
const PROBES: usize = 64;

struct Entry {
    key: AtomicU64,
    value: AtomicU64,
}

static TABLE: [Entry; SIZE] =
    [const { Entry { key: AtomicU64::new(0), value: AtomicU64::new(0) } }; SIZE];

fn probes(key: u64) -> impl Iterator<Item = &'static Entry> {
    (0..PROBES).map(move |at| &TABLE[(key as usize).wrapping_add(at) % SIZE])
}

/// The value of a key; 0 if there is none.
pub fn get(key: u64) -> u64 {
    let known = probes(key).find(|it| it.key.load(Ordering::Acquire) == key);
    known.map_or(0, |it| it.value.load(Ordering::Acquire))
}

/// The entry of a key, which is 0 if it is new.
pub fn entry(key: u64) -> &'static AtomicU64 {
    for entry in probes(key) {
        let found = match entry.key.load(Ordering::Acquire) {
            0 => entry.key.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire),
            other => Err(other),
        };
        if found.map_or_else(|it| it == key, |_| true) {
            return &entry.value;
        }
    }
    let replaced = &TABLE[key as usize % SIZE];
    replaced.value.store(0, Ordering::Relaxed);
    replaced.key.store(key, Ordering::Release);
    &replaced.value
}
