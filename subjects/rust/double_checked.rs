// A lazily initialised value: its flag is set before the value, and others trust the flag.
// Consequence: panic

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    thread,
};

static DONE: AtomicBool = AtomicBool::new(false);
static VALUE: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());

fn get() -> u32 {
    if !DONE.load(SeqCst) {
        let _guard = LOCK.lock().unwrap();
        if !DONE.load(SeqCst) {
            if cfg!(fixed) {
                VALUE.store(7, SeqCst);
                DONE.store(true, SeqCst);
            } else {
                DONE.store(true, SeqCst);
                VALUE.store(7, SeqCst);
            }
        }
    }
    VALUE.load(SeqCst)
}

fn main() {
    let other = thread::spawn(|| assert_eq!(get(), 7));
    assert_eq!(get(), 7);
    other.join().unwrap();
}
