// A raw pointer is read while its owner frees the memory.
// Consequence: use after free

use std::thread;

struct Pointer(*const u64);

// SAFETY: the owner is meant to outlive the readers.
unsafe impl Send for Pointer {}

impl Pointer {
    fn read(&self) -> u64 {
        // SAFETY: the owner is meant to outlive the readers.
        unsafe { *self.0 }
    }
}

fn main() {
    let owner = Box::new(7_u64);
    let pointer = Pointer(&raw const *owner);
    let reader = thread::spawn(move || pointer.read());
    if cfg!(fixed) {
        assert_eq!(reader.join().unwrap(), 7);
        drop(owner);
    } else {
        drop(owner);
        reader.join().unwrap();
    }
}
