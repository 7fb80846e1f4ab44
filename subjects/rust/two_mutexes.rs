// Two transfers in opposite directions take the locks of their accounts in opposite orders.
// Finds: deadlock on FIRST, SECOND; deadlock

use std::{sync::Mutex, thread};

static FIRST: Mutex<i64> = Mutex::new(100);
static SECOND: Mutex<i64> = Mutex::new(100);

fn forth(amount: i64) {
    let mut first = FIRST.lock().unwrap();
    let mut second = SECOND.lock().unwrap();
    *first -= amount;
    *second += amount;
}

fn back(amount: i64) {
    if cfg!(fixed) {
        return forth(-amount);
    }
    let mut second = SECOND.lock().unwrap();
    let mut first = FIRST.lock().unwrap();
    *second -= amount;
    *first += amount;
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| forth(10));
        scope.spawn(|| back(20));
    });
    assert_eq!(*FIRST.lock().unwrap() + *SECOND.lock().unwrap(), 200);
}
