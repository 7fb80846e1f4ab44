//! One thread fills a shelf, and the other one waits for it.

use std::thread;

use parking_lot::{Condvar, Mutex, RwLock};

static SHELF: Mutex<u32> = Mutex::new(0);
static FILLED: Condvar = Condvar::new();
static PRICE: RwLock<u32> = RwLock::new(2);
static TILL: Mutex<u32> = Mutex::new(0);

fn main() {
    let buyer = thread::spawn(|| {
        let mut shelf = SHELF.lock();
        while *shelf == 0 {
            FILLED.wait(&mut shelf);
        }
        *shelf -= 1;
        *TILL.lock() += *PRICE.read();
    });
    *PRICE.write() += 1;
    let mut shelf = SHELF.lock();
    *shelf += 1;
    // The other order of the two locks.
    assert!(TILL.try_lock().is_some_and(|it| *it == 0));
    FILLED.notify_one();
    drop(shelf);
    buyer.join().unwrap();
    assert_eq!(*TILL.lock(), 3);
}
