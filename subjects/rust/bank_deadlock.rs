// Two threads transfer money between two accounts, each of which has its own `Mutex`. One thread locks
// them in one order, the other one in the opposite order.
// Finds: deadlock on Account; deadlock

use std::{
    sync::{Arc, Mutex},
    thread,
};

struct Account {
    balance: i64,
}

fn transfer(from: &Mutex<Account>, to: &Mutex<Account>, amount: i64) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    from.balance -= amount;
    to.balance += amount;
}

fn main() {
    let first = Arc::new(Mutex::new(Account { balance: 100 }));
    let second = Arc::new(Mutex::new(Account { balance: 100 }));
    let (a, b) = (Arc::clone(&first), Arc::clone(&second));
    let other = thread::spawn(move || transfer(&a, &b, 10));
    if cfg!(fixed) {
        transfer(&first, &second, -20);
    } else {
        transfer(&second, &first, 20);
    }
    other.join().unwrap();
    assert_eq!(first.lock().unwrap().balance, 110);
}
