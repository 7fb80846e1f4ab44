// A thread waits half a minute for a start signal, and does not check whether it came.
// Consequence: panic

use std::{
    sync::{Condvar, Mutex},
    thread,
    time::Duration,
};

/// A peer may take half a minute; nobody waits for a day, so that limit may be ignored.
const LIMIT: Duration = Duration::from_secs(if cfg!(fixed) { 24 * 60 * 60 } else { 30 });

static STARTED: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let guard = STARTED.lock().unwrap();
    let starter = thread::spawn(|| {
        *STARTED.lock().unwrap() = true;
        CHANGED.notify_one();
    });
    let (guard, _) = CHANGED.wait_timeout(guard, LIMIT).unwrap();
    assert!(*guard, "it has not started");
    drop(guard);
    starter.join().unwrap();
}
