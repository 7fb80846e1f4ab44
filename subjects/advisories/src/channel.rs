//! RUSTSEC-2025-0024, `crossbeam-channel` before 0.5.15: the last receiver goes away while the first messages are sent.

use std::thread;

use crossbeam_channel::unbounded;

fn main() {
    let (first, receiver) = unbounded();
    let second = first.clone();
    let threads = [first, second].map(|it| thread::spawn(move || it.send(Box::new(1)).is_ok()));
    drop(receiver);
    for thread in threads {
        thread.join().unwrap();
    }
}
