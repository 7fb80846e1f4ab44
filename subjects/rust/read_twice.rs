// A thread reads a `RwLock` twice. If a writer requests the lock in between, the second reader waits for
// the writer, and the writer for the first reader.
// Consequence: deadlock

use std::{sync::RwLock, thread};

static PRICES: RwLock<[u32; 2]> = RwLock::new([3, 4]);

fn total() -> u32 {
    let prices = PRICES.read().unwrap();
    let first = prices[0];
    if cfg!(fixed) {
        drop(prices);
        return first + PRICES.read().unwrap()[1];
    }
    first + PRICES.read().unwrap()[1]
}

fn main() {
    let writer = thread::spawn(|| PRICES.write().unwrap()[1] += 1);
    let total = total();
    writer.join().unwrap();
    assert!(total >= 7);
}
