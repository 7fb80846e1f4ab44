//! The part in C, from two threads.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

#[test]
fn totals_in_turn() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let other = thread::spawn(|| {
        bank::native::add(2);
        DONE.store(true, SeqCst);
    });
    while !DONE.load(SeqCst) {
        thread::yield_now();
    }
    bank::native::add(1);
    other.join().unwrap();
}
