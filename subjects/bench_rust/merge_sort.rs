// Two threads sort the halves of a vector by merging, then one merges them; the argument is the number of values.

use std::{env, thread};

fn sort(values: &mut [u32], buffer: &mut Vec<u32>) {
    if values.len() < 2 {
        return;
    }
    let middle = values.len() / 2;
    sort(&mut values[..middle], buffer);
    sort(&mut values[middle..], buffer);
    merge(values, middle, buffer);
}

fn merge(values: &mut [u32], middle: usize, buffer: &mut Vec<u32>) {
    buffer.clear();
    let (mut left, mut right) = (0, middle);
    while left < middle && right < values.len() {
        let from = if values[left] <= values[right] { &mut left } else { &mut right };
        buffer.push(values[*from]);
        *from += 1;
    }
    buffer.extend_from_slice(&values[left..middle]);
    values[..buffer.len()].copy_from_slice(buffer);
}

fn main() {
    let count: usize = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1000);
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 8
    };
    let mut values: Vec<u32> = (0..count).map(|_| next()).collect();
    let middle = count / 2;
    thread::scope(|scope| {
        let (left, right) = values.split_at_mut(middle);
        for half in [left, right] {
            scope.spawn(|| sort(half, &mut Vec::new()));
        }
    });
    merge(&mut values, middle, &mut Vec::new());
    assert!(values.is_sorted());
    println!("{} {}", values[0], values[count - 1]);
}
