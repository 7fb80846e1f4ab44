//! Deposits in two threads, as often as its argument says.

use std::{env, thread};

fn main() {
    let number: u32 = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1);
    thread::scope(|scope| {
        for _ in 0..number {
            scope.spawn(|| bank::deposit(1));
        }
    });
    let balance = bank::BALANCE.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(balance, number);
}
