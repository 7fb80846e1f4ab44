// A home-made reference count is decreased by a load and a store: both owners free, or none does.
// Consequence: panic

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

static OWNERS: AtomicU32 = AtomicU32::new(2);
static FREED: AtomicU32 = AtomicU32::new(0);

fn release() {
    let last = if cfg!(fixed) {
        OWNERS.fetch_sub(1, SeqCst) == 1
    } else {
        let owners = OWNERS.load(SeqCst) - 1;
        OWNERS.store(owners, SeqCst);
        owners == 0
    };
    if last {
        FREED.fetch_add(1, SeqCst);
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(release);
        scope.spawn(release);
    });
    assert_eq!(FREED.load(SeqCst), 1, "not freed exactly once");
}
