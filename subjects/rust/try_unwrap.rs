// Takes a shared value back when the worker has announced its end, but not yet dropped its reference.
// Consequence: panic

use std::{
    sync::{Arc, mpsc},
    thread,
};

fn main() {
    let shared = Arc::new(vec![1, 2, 3]);
    let (sender, receiver) = mpsc::channel();
    let theirs = Arc::clone(&shared);
    let worker = thread::spawn(move || {
        sender.send(theirs.iter().sum::<i32>()).unwrap();
        drop(theirs);
    });
    assert_eq!(receiver.recv(), Ok(6));
    if cfg!(fixed) {
        worker.join().unwrap();
        assert_eq!(Arc::try_unwrap(shared).unwrap().len(), 3);
    } else {
        assert_eq!(Arc::try_unwrap(shared).unwrap().len(), 3);
        worker.join().unwrap();
    }
}
