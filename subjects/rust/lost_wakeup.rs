// A worker sets a flag and notifies without the mutex, so that the notification can come between the
// check of the flag and the wait.
// Finds: deadlock on CHANGED; deadlock

use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

static READY: AtomicBool = AtomicBool::new(false);
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

fn announce() {
    if cfg!(fixed) {
        let _guard = LOCK.lock().unwrap();
        READY.store(true, SeqCst);
    } else {
        READY.store(true, SeqCst);
    }
    CHANGED.notify_one();
}

fn main() {
    let worker = thread::spawn(announce);
    let mut guard = LOCK.lock().unwrap();
    while !READY.load(SeqCst) {
        guard = CHANGED.wait(guard).unwrap();
    }
    drop(guard);
    worker.join().unwrap();
}
