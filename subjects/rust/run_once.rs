// A flag that allows one start is read and set in two steps.
// Finds: atomicity on STARTED; panic

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    thread,
};

static STARTED: AtomicBool = AtomicBool::new(false);
static STARTS: AtomicU32 = AtomicU32::new(0);

fn start() {
    let first = if cfg!(fixed) {
        !STARTED.swap(true, SeqCst)
    } else {
        let first = !STARTED.load(SeqCst);
        STARTED.store(true, SeqCst);
        first
    };
    if first {
        STARTS.fetch_add(1, SeqCst);
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(start);
        scope.spawn(start);
    });
    assert_eq!(STARTS.load(SeqCst), 1, "started twice");
}
