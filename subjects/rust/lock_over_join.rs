// The main thread joins a worker while it holds the lock that the worker needs.
// Consequence: deadlock

use std::{sync::Mutex, thread};

static TOTAL: Mutex<u32> = Mutex::new(0);

fn main() {
    let worker = thread::spawn(|| *TOTAL.lock().unwrap() += 1);
    let mut total = TOTAL.lock().unwrap();
    *total += 1;
    if cfg!(fixed) {
        drop(total);
        worker.join().unwrap();
    } else {
        worker.join().unwrap();
        *total += 1;
    }
}
