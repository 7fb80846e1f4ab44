// A reader of a sequence lock does not look at the sequence number again after it has read.
// Consequence: panic

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);
static RIGHT: AtomicU32 = AtomicU32::new(0);

fn write() {
    SEQUENCE.fetch_add(1, SeqCst);
    LEFT.store(1, SeqCst);
    RIGHT.store(1, SeqCst);
    SEQUENCE.fetch_add(1, SeqCst);
}

fn read() -> (u32, u32) {
    loop {
        let before = SEQUENCE.load(SeqCst);
        let pair = (LEFT.load(SeqCst), RIGHT.load(SeqCst));
        let unchanged = !cfg!(fixed) || SEQUENCE.load(SeqCst) == before;
        if before % 2 == 0 && unchanged {
            return pair;
        }
        thread::yield_now();
    }
}

fn main() {
    let writer = thread::spawn(write);
    let (left, right) = read();
    assert_eq!(left, right, "half of an update");
    writer.join().unwrap();
}
