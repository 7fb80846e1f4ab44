// The flag is set without the lock, between the waiter's check and its wait: the notification is lost.
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

fn signal() {
    let guard = cfg!(fixed).then(|| LOCK.lock().unwrap());
    READY.store(true, SeqCst);
    drop(guard);
    CHANGED.notify_one();
}

fn main() {
    let signaller = thread::spawn(signal);
    let mut guard = LOCK.lock().unwrap();
    while !READY.load(SeqCst) {
        guard = CHANGED.wait(guard).unwrap();
    }
    drop(guard);
    signaller.join().unwrap();
}
