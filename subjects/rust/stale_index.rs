// An index into a shared vector is used after the lock was released, when the vector is shorter.
// Finds: atomicity on ITEMS; panic

use std::{sync::Mutex, thread};

static ITEMS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn take_last() -> Option<u32> {
    if cfg!(fixed) {
        return ITEMS.lock().unwrap().pop();
    }
    let last = ITEMS.lock().unwrap().len().checked_sub(1)?;
    Some(ITEMS.lock().unwrap().remove(last))
}

fn main() {
    ITEMS.lock().unwrap().extend([1, 2]);
    let threads = [thread::spawn(take_last), thread::spawn(take_last)];
    for thread in threads {
        thread.join().unwrap();
    }
}
