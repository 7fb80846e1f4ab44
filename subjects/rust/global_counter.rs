// Two threads increment a `static mut` without a lock.
// Finds: race on HITS; panic

use std::{sync::Mutex, thread};

static mut HITS: u32 = 0;
static LOCK: Mutex<()> = Mutex::new(());

fn hit() {
    let guard = cfg!(fixed).then(|| LOCK.lock().unwrap());
    // SAFETY: none, without the lock.
    unsafe { HITS += 1 };
    drop(guard);
}

fn main() {
    let threads = [thread::spawn(hit), thread::spawn(hit)];
    for thread in threads {
        thread.join().unwrap();
    }
    // SAFETY: the threads have ended.
    assert_eq!(unsafe { HITS }, 2);
}
