// A thread waits for a message with a lock that the sender needs first.
// Consequence: deadlock

use std::{
    sync::{Mutex, mpsc},
    thread,
};

static LOG: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn main() {
    let (sender, receiver) = mpsc::channel();
    let producer = thread::spawn(move || {
        LOG.lock().unwrap().push(1);
        sender.send(2).unwrap();
    });
    if cfg!(fixed) {
        let value = receiver.recv().unwrap();
        LOG.lock().unwrap().push(value);
    } else {
        let mut log = LOG.lock().unwrap();
        log.push(receiver.recv().unwrap());
    }
    producer.join().unwrap();
}
