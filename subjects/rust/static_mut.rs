// Two threads increment a `static mut`.
// Finds: race on HITS; none

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
};

static mut HITS: u32 = 0;
static COUNTED: AtomicU32 = AtomicU32::new(0);

fn hit() {
    if cfg!(fixed) {
        COUNTED.fetch_add(1, Relaxed);
    } else {
        // SAFETY: none, which is the bug: both threads run this at the same time.
        unsafe { HITS += 1 }
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(hit);
        scope.spawn(hit);
    });
    println!("done");
}
