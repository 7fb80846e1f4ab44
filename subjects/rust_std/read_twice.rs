// A reader takes the read lock again while it holds it, and a writer has begun to wait in between.
// Consequence: deadlock

use std::{sync::RwLock, thread};

static TABLE: RwLock<u32> = RwLock::new(0);

fn size() -> u32 {
    *TABLE.read().unwrap()
}

fn report() -> u32 {
    let table = TABLE.read().unwrap();
    if cfg!(fixed) { *table * 2 } else { *table + size() }
}

fn main() {
    let reader = thread::spawn(report);
    *TABLE.write().unwrap() += 1;
    assert!(reader.join().unwrap() <= 2);
}
