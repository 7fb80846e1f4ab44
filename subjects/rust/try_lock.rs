// Takes a lock by `try_lock`, because nobody else is expected to hold it.
// Consequence: panic

use std::{sync::Mutex, thread};

static STATISTICS: Mutex<u32> = Mutex::new(0);

fn count() {
    if cfg!(fixed) {
        *STATISTICS.lock().unwrap() += 1;
    } else {
        *STATISTICS.try_lock().expect("statistics are locked") += 1;
    }
}

fn main() {
    let threads = [thread::spawn(count), thread::spawn(count)];
    for thread in threads {
        thread.join().unwrap();
    }
}
