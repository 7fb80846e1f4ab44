// Two threads own a buffer by `Arc`; the last one frees it, after what the others wrote.
// Bug: one of them still uses the buffer when it has given up its share.
// Finds: race on Total; use after free

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

struct Total {
    parts: [AtomicU32; 2],
    base: u32,
}

impl Drop for Total {
    fn drop(&mut self) {
        self.base = self.parts.iter().map(|it| it.load(Relaxed)).sum();
    }
}

fn add(total: Arc<Total>, part: usize) {
    let parts = &raw const total.parts[part];
    let value = total.base + 1;
    if cfg!(fixed) {
        total.parts[part].store(value, Relaxed);
        drop(total);
    } else {
        drop(total);
        // SAFETY: none.
        unsafe { (*parts).store(value, Relaxed) };
    }
}

fn main() {
    let total = Arc::new(Total { parts: Default::default(), base: 0 });
    let other = Arc::clone(&total);
    let thread = thread::spawn(move || add(other, 1));
    add(total, 0);
    thread.join().unwrap();
}
