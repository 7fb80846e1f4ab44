// Senders and receivers of a bounded channel wait on one condition variable, and each step wakes one thread.
// Consequence: deadlock

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Channel<T> {
    queue: Mutex<VecDeque<T>>,
    cond: Condvar,
    cap: usize,
}

impl<T> Channel<T> {
    fn new(cap: usize) -> Self {
        Channel { queue: Mutex::new(VecDeque::new()), cond: Condvar::new(), cap }
    }
    fn send(&self, item: T) {
        let mut q = self.queue.lock().unwrap();
        while q.len() == self.cap {
            q = self.cond.wait(q).unwrap();
        }
        q.push_back(item);
        if cfg!(fixed) { self.cond.notify_all() } else { self.cond.notify_one() }
    }
    fn recv(&self) -> T {
        let mut q = self.queue.lock().unwrap();
        loop {
            if let Some(item) = q.pop_front() {
                if cfg!(fixed) {
                    self.cond.notify_all()
                } else {
                    self.cond.notify_one()
                }
                return item;
            }
            q = self.cond.wait(q).unwrap();
        }
    }
}

fn main() {
    let ch = Arc::new(Channel::new(1));
    let mut handles = vec![];
    for p in 0..2 {
        let ch = ch.clone();
        handles.push(thread::spawn(move || {
            for i in 0..2 {
                ch.send(p * 10 + i)
            }
        }));
    }
    for _ in 0..2 {
        let ch = ch.clone();
        handles.push(thread::spawn(move || {
            let s: i32 = (0..2).map(|_| ch.recv()).sum();
            println!("{}", s > 0);
        }));
    }
    for h in handles {
        h.join().unwrap();
    }
}
