// A client waits 20 ms for an answer, and takes its absence for an error.
// Consequence: panic

use std::{sync::mpsc, thread, time::Duration};

/// No thread that can run takes a day to answer.
const LIMIT: Duration = Duration::from_millis(if cfg!(fixed) { 24 * 60 * 60 * 1000 } else { 20 });

fn main() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || sender.send((1..=10).sum::<u32>()).is_ok());
    let answer = receiver.recv_timeout(LIMIT).expect("no answer");
    assert_eq!(answer, 55);
    assert!(worker.join().unwrap());
}
