// A thread parks for up to 50 ms, and does not check why it continues.
// Consequence: panic

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

const LIMIT: Duration = Duration::from_millis(50);

static RESULT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let waiter = thread::current();
    let worker = thread::spawn(move || {
        RESULT.store(5, Ordering::Release);
        waiter.unpark();
    });
    thread::park_timeout(LIMIT);
    while cfg!(fixed) && RESULT.load(Ordering::Acquire) == 0 {
        thread::park_timeout(LIMIT);
    }
    assert_eq!(RESULT.load(Ordering::Acquire), 5, "no result");
    worker.join().unwrap();
}
