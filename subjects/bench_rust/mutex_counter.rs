// Two threads count under a mutex; the argument is the number of increments of each.

use std::{env, sync::Mutex, thread};

fn main() {
    let rounds: u64 = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1000);
    let total = Mutex::new(0u64);
    thread::scope(|scope| {
        for step in 1..=2 {
            let total = &total;
            scope.spawn(move || (0..rounds).for_each(|_| *total.lock().unwrap() += step));
        }
    });
    println!("{}", total.into_inner().unwrap());
}
