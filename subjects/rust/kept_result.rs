// Adds to a total in two steps, each of which keeps the result of the lock. Optimised code releases the lock by one operation
// for both variants of the result.
// Finds: atomicity on kept_result::TOTAL; panic
// Flags: -Copt-level=3

use std::{
    sync::{Mutex, RwLock},
    thread,
};

static TOTAL: Mutex<u32> = Mutex::new(0);
static LAST: RwLock<u32> = RwLock::new(0);

fn add(by: u32) {
    let mut kept = TOTAL.lock();
    let Ok(total) = &mut kept else { return };
    let seen = **total;
    if cfg!(fixed) {
        **total = seen + by;
        return;
    }
    drop(kept);
    let mut kept = TOTAL.lock();
    if let Ok(total) = &mut kept {
        **total = seen + by;
    }
}

fn keep_largest(number: u32) {
    let kept = LAST.read();
    let is_larger = kept.as_ref().is_ok_and(|last| **last < number);
    drop(kept);
    let mut kept = LAST.write();
    if let Ok(last) = &mut kept
        && is_larger
    {
        **last = number.max(**last);
    }
}

fn work(number: u32) {
    add(number);
    keep_largest(number);
}

fn main() {
    let worker = thread::spawn(|| work(1));
    work(2);
    worker.join().unwrap();
    assert_eq!(*LAST.read().unwrap(), 2);
    assert_eq!(*TOTAL.lock().unwrap(), 3);
}
