// Two threads count words in maps of their own, which are merged under a lock; the argument is the number of words.

use std::{collections::HashMap, env, sync::Mutex, thread};

fn main() {
    let words: u64 = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1000);
    let merged = Mutex::new(HashMap::<String, u64>::new());
    thread::scope(|scope| {
        for thread in 0..2 {
            let merged = &merged;
            scope.spawn(move || {
                let mut counts = HashMap::<String, u64>::new();
                for number in 0..words {
                    let word = (number * 7919 + thread) % 1009;
                    *counts.entry(format!("word{word}")).or_default() += 1;
                }
                let mut merged = merged.lock().unwrap();
                counts.into_iter().for_each(|(word, count)| *merged.entry(word).or_default() += count);
            });
        }
    });
    let mut counts: Vec<_> = merged.into_inner().unwrap().into_iter().collect();
    counts.sort();
    println!("{} {:?}", counts.len(), counts.first());
}
