// The receiver leaves after the first message, and the sender does not expect that.
// Finds: order on core::mem::drop(), std::sync::mpsc::Sender::send(); panic

use std::{sync::mpsc, thread};

fn main() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    let first = receiver.recv().unwrap();
    if cfg!(fixed) {
        assert_eq!(receiver.recv(), Ok(2));
    }
    drop(receiver);
    assert_eq!(first, 1);
    worker.join().unwrap();
}
