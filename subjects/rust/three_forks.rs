// Three philosophers take the fork on their left, then the one on their right.
// Finds: deadlock on FORKS; deadlock

use std::{sync::Mutex, thread};

static FORKS: [Mutex<u32>; 3] = [const { Mutex::new(0) }; 3];

fn dine(seat: usize) {
    let (mut one, mut other) = (seat, (seat + 1) % 3);
    if cfg!(fixed) && one > other {
        (one, other) = (other, one);
    }
    let mut left = FORKS[one].lock().unwrap();
    let mut right = FORKS[other].lock().unwrap();
    *left += 1;
    *right += 1;
}

fn main() {
    thread::scope(|scope| {
        for seat in 0..3 {
            scope.spawn(move || dine(seat));
        }
    });
    assert!(FORKS.iter().all(|fork| *fork.lock().unwrap() == 2));
}
