// A consumer checks the queue once before it waits, and not again after it was woken.
// Consequence: panic

use std::{
    sync::{Condvar, Mutex},
    thread,
};

static QUEUE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static CHANGED: Condvar = Condvar::new();

fn consume() -> u32 {
    let mut queue = QUEUE.lock().unwrap();
    if cfg!(fixed) {
        while queue.is_empty() {
            queue = CHANGED.wait(queue).unwrap();
        }
    } else if queue.is_empty() {
        queue = CHANGED.wait(queue).unwrap();
    }
    queue.pop().expect("the queue is empty")
}

fn produce(item: u32) {
    QUEUE.lock().unwrap().push(item);
    CHANGED.notify_all();
}

fn main() {
    let consumers = [thread::spawn(consume), thread::spawn(consume)];
    produce(1);
    produce(2);
    let sum: u32 = consumers.into_iter().map(|it| it.join().unwrap()).sum();
    assert_eq!(sum, 3);
}
