// Two withdrawals are both allowed before one of them is made: the subtraction overflows.
// Consequence: panic

use std::{sync::Mutex, thread};

static BALANCE: Mutex<u32> = Mutex::new(10);

fn withdraw(amount: u32) {
    if cfg!(fixed) {
        let mut balance = BALANCE.lock().unwrap();
        if *balance >= amount {
            *balance -= amount;
        }
        return;
    }
    if *BALANCE.lock().unwrap() >= amount {
        *BALANCE.lock().unwrap() -= amount;
    }
}

fn main() {
    let threads = [thread::spawn(|| withdraw(8)), thread::spawn(|| withdraw(7))];
    for thread in threads {
        thread.join().unwrap();
    }
}
