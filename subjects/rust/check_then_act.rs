// Sells the last seat twice: the number of free seats is checked in one step and decreased in another.
// Consequence: panic

use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

static FREE: AtomicUsize = AtomicUsize::new(1);
static SOLD: AtomicUsize = AtomicUsize::new(0);

fn buy() {
    let bought = if cfg!(fixed) {
        FREE.fetch_update(SeqCst, SeqCst, |free| free.checked_sub(1)).is_ok()
    } else {
        let free = FREE.load(SeqCst) > 0;
        if free {
            FREE.fetch_sub(1, SeqCst);
        }
        free
    };
    if bought {
        SOLD.fetch_add(1, SeqCst);
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(buy);
        scope.spawn(buy);
    });
    assert!(SOLD.load(SeqCst) <= 1, "a seat was sold twice");
}
