// A reader looks for a writer and then registers; a writer looks for readers and then registers.
// Consequence: panic

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    thread,
};

static READERS: AtomicU32 = AtomicU32::new(0);
static WRITER: AtomicBool = AtomicBool::new(false);
static LEFT: AtomicU32 = AtomicU32::new(0);
static RIGHT: AtomicU32 = AtomicU32::new(0);

fn read() {
    if cfg!(fixed) {
        READERS.fetch_add(1, SeqCst);
        if WRITER.load(SeqCst) {
            READERS.fetch_sub(1, SeqCst);
            return;
        }
    } else {
        if WRITER.load(SeqCst) {
            return;
        }
        READERS.fetch_add(1, SeqCst);
    }
    assert_eq!(LEFT.load(SeqCst), RIGHT.load(SeqCst), "a reader saw half of an update");
    READERS.fetch_sub(1, SeqCst);
}

fn write() {
    WRITER.store(true, SeqCst);
    while READERS.load(SeqCst) > 0 {
        thread::yield_now();
    }
    LEFT.fetch_add(1, SeqCst);
    RIGHT.fetch_add(1, SeqCst);
    WRITER.store(false, SeqCst);
}

fn main() {
    let reader = thread::spawn(read);
    write();
    reader.join().unwrap();
}
