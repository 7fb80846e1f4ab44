// Two threads wait for the same event, and only one of them is woken.
// Consequence: deadlock

use std::{
    sync::{Condvar, Mutex},
    thread,
};

static OPEN: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn enter() {
    let mut open = OPEN.lock().unwrap();
    while !*open {
        open = CHANGED.wait(open).unwrap();
    }
}

fn main() {
    let guests = [thread::spawn(enter), thread::spawn(enter)];
    *OPEN.lock().unwrap() = true;
    if cfg!(fixed) {
        CHANGED.notify_all();
    } else {
        CHANGED.notify_one();
    }
    for guest in guests {
        guest.join().unwrap();
    }
}
