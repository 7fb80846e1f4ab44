// Scoped threads read a total under a lock, and write it under another one.
// Finds: atomicity on TOTAL; panic

use std::{sync::Mutex, thread};

static TOTAL: Mutex<u32> = Mutex::new(0);

fn add(amount: u32) {
    if cfg!(fixed) {
        *TOTAL.lock().unwrap() += amount;
    } else {
        let sum = *TOTAL.lock().unwrap() + amount;
        *TOTAL.lock().unwrap() = sum;
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| add(1));
        scope.spawn(|| add(2));
    });
    assert_eq!(*TOTAL.lock().unwrap(), 3);
}
