//! Maps a `pthread_t` to the number of its thread.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The number of a thread that is not recorded.
const NOT_RECORDED: u32 = u32::MAX;
/// The numbers of threads by their `pthread_t`. libc reuses handles, so entries are overwritten.
static HANDLES: [(AtomicUsize, AtomicU32); MOST_HANDLES] =
    [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; MOST_HANDLES];
const MOST_HANDLES: usize = 32768;

/// Remembers the number of the thread with this handle.
pub fn remember(handle: usize, number: u32) {
    for (key, value) in probe(handle) {
        let seen = key.load(Ordering::Acquire);
        let mine = seen == handle
            || seen == 0
                && key.compare_exchange(0, handle, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if mine {
            return value.store(number, Ordering::Release);
        }
    }
}

/// Marks the thread with this handle as not recorded; an earlier thread with the handle may have
/// been.
pub fn forget(handle: usize) {
    remember(handle, NOT_RECORDED);
}

/// The number of the thread with this handle.
pub fn number_of(handle: usize) -> Option<u32> {
    let mut found = probe(handle).take_while(|(key, _)| key.load(Ordering::Acquire) != 0);
    found
        .find(|(key, _)| key.load(Ordering::Relaxed) == handle)
        .map(|(_, value)| value.load(Ordering::Acquire))
        .filter(|number| *number != NOT_RECORDED)
}

fn probe(handle: usize) -> impl Iterator<Item = &'static (AtomicUsize, AtomicU32)> {
    let start = handle >> 12 ^ handle >> 24;
    (0..HANDLES.len()).map(move |i| &HANDLES[(start + i) % HANDLES.len()])
}
