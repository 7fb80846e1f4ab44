// A thread sends boxed messages through a bounded channel, another one adds them up; the argument is their number.

use std::{env, sync::mpsc::sync_channel, thread};

fn main() {
    let messages: u64 = env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1000);
    let (sender, receiver) = sync_channel::<Box<[u64; 4]>>(64);
    let producer = thread::spawn(move || {
        (0..messages).for_each(|it| sender.send(Box::new([it, it + 1, it + 2, it + 3])).unwrap());
    });
    let total: u64 = receiver.iter().map(|it| it.iter().sum::<u64>()).sum();
    producer.join().unwrap();
    println!("{total}");
}
