// A stack without locks frees a node that another thread is about to read.
// Consequence: use after free

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

struct Node {
    value: u32,
    next: *mut Node,
}
struct Stack {
    head: AtomicPtr<Node>,
    guard: Mutex<()>,
}

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        loop {
            let head = self.head.load(Acquire);
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }
    fn pop(&self) -> Option<u32> {
        let _g = if cfg!(fixed) { Some(self.guard.lock().unwrap()) } else { None };
        loop {
            let head = self.head.load(Acquire);
            if head.is_null() {
                return None;
            }
            let next = unsafe { (*head).next };
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                let node = unsafe { Box::from_raw(head) };
                return Some(node.value);
            }
        }
    }
}

fn main() {
    let stack = Stack { head: AtomicPtr::new(ptr::null_mut()), guard: Mutex::new(()) };
    for i in 0..4 {
        stack.push(i);
    }
    let sum: u32 = thread::scope(|s| {
        let ts: Vec<_> =
            (0..2).map(|_| s.spawn(|| (0..2).filter_map(|_| stack.pop()).sum::<u32>())).collect();
        ts.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(sum, 6);
}
