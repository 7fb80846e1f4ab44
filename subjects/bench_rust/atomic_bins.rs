// Two threads count numbers in atomic bins; the argument is the number of them.

use std::{
    env,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

fn main() {
    let numbers: u64 = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1000);
    let bins: Vec<AtomicU64> = (0..256).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..2 {
            let bins = &bins;
            scope.spawn(move || {
                let mut value = thread + 1u64;
                for _ in 0..numbers {
                    value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    bins[(value >> 56) as usize].fetch_add(1, Relaxed);
                }
            });
        }
    });
    println!("{}", bins.iter().map(|it| it.load(Relaxed)).sum::<u64>());
}
