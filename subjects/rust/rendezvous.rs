// Both sides may send first over channels without a buffer, and each waits for the other to receive.
// Consequence: deadlock

use std::{
    sync::{
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

static STARTED: AtomicBool = AtomicBool::new(false);

fn exchange(out: &SyncSender<u32>, input: &Receiver<u32>, value: u32) {
    let first = if cfg!(fixed) { !STARTED.swap(true, SeqCst) } else { !STARTED.load(SeqCst) };
    if first {
        STARTED.store(true, SeqCst);
        out.send(value).unwrap();
        input.recv().unwrap();
    } else {
        input.recv().unwrap();
        out.send(value).unwrap();
    }
}

fn main() {
    let (to_left, left_input) = sync_channel(0);
    let (to_right, right_input) = sync_channel(0);
    let left = thread::spawn(move || exchange(&to_right, &left_input, 1));
    let right = thread::spawn(move || exchange(&to_left, &right_input, 2));
    left.join().unwrap();
    right.join().unwrap();
}
