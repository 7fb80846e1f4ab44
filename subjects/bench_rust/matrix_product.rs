// Two threads multiply matrices, half of the rows each; the argument is the number of rows.

use std::{env, thread};

fn main() {
    let size: usize = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(50);
    let left: Vec<u64> = (0..size * size).map(|it| it as u64 % 7).collect();
    let right: Vec<u64> = (0..size * size).map(|it| it as u64 % 11).collect();
    let mut product = vec![0u64; size * size];
    thread::scope(|scope| {
        for (part, rows) in product.chunks_mut((size * size.div_ceil(2)).max(1)).enumerate() {
            let (left, right) = (&left, &right);
            scope.spawn(move || {
                for (at, cell) in rows.iter_mut().enumerate() {
                    let (row, column) = (part * size.div_ceil(2) + at / size, at % size);
                    *cell = (0..size).map(|it| left[row * size + it] * right[it * size + column]).sum();
                }
            });
        }
    });
    println!("{}", product.iter().fold(0u64, |sum, it| sum.wrapping_mul(31).wrapping_add(*it)));
}
