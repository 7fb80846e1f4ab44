// The main thread reads a result that a thread which nobody joins may not have written yet.
// Finds: order on RESULT; panic

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
    time::Duration,
};

static RESULT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let worker = thread::spawn(|| RESULT.store(42, SeqCst));
    if cfg!(fixed) {
        worker.join().unwrap();
    } else {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(RESULT.load(SeqCst), 42);
}
