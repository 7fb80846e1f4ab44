// Two events unpark the main thread, which parks twice: the second event may come before it has parked for
// the first one, and both are one wake-up.
// Consequence: deadlock

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

static EVENTS: AtomicU32 = AtomicU32::new(0);

fn main() {
    let waiter = thread::current();
    let other = waiter.clone();
    let sources = [waiter, other].map(|it| {
        thread::spawn(move || {
            EVENTS.fetch_add(1, SeqCst);
            it.unpark();
        })
    });
    if cfg!(fixed) {
        while EVENTS.load(SeqCst) < 2 {
            thread::park();
        }
    } else {
        thread::park();
        thread::park();
    }
    for source in sources {
        source.join().unwrap();
    }
}
