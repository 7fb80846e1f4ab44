// Two threads increment an atomic counter by a load and a store instead of one `fetch_add`.
// Finds: atomicity on COUNTER; panic

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn increment() {
    if cfg!(fixed) {
        COUNTER.fetch_add(1, SeqCst);
    } else {
        let old = COUNTER.load(SeqCst);
        COUNTER.store(old + 1, SeqCst);
    }
}

fn main() {
    let threads = [thread::spawn(increment), thread::spawn(increment)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(COUNTER.load(SeqCst), 2);
}
