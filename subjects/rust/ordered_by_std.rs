// Plain memory that one thread writes and another one reads, ordered by each of std's primitives in turn.
// Bug: nothing orders the fourth element.
// Finds: race on MESSAGE; none

use std::{
    cell::UnsafeCell,
    sync::{Arc, Barrier, LazyLock, Once, OnceLock, mpsc},
    thread,
};

struct Message(UnsafeCell<[u32; 8]>);

// SAFETY: each element is written by one thread, before another one reads it.
unsafe impl Sync for Message {}

static MESSAGE: Message = Message(UnsafeCell::new([0; 8]));
static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<u32> = LazyLock::new(|| {
    put(2, 3);
    3
});

fn put(at: usize, value: u32) {
    // SAFETY: no other thread accesses the element now.
    unsafe { (*MESSAGE.0.get())[at] = value };
}

fn get(at: usize) -> u32 {
    // SAFETY: no other thread writes the element any more.
    unsafe { (*MESSAGE.0.get())[at] }
}

fn initialise() -> u32 {
    ONCE.call_once(|| put(0, 1));
    let cell = *CELL.get_or_init(|| {
        put(1, 2);
        2
    });
    get(0) + cell + get(1) + *LAZY + get(2)
}

fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let (sender, receiver) = mpsc::channel();
    let (rendezvous, arrival) = mpsc::sync_channel(0);
    let main = thread::current();
    let other = {
        let barrier = Arc::clone(&barrier);
        thread::spawn(move || {
            put(6, 9);
            main.unpark();
            let sum = initialise();
            put(3, 4);
            if cfg!(fixed) {
                barrier.wait();
            }
            put(4, 5);
            sender.send(Box::new(6)).unwrap();
            put(5, 7);
            rendezvous.send(8).unwrap();
            sum
        })
    };
    thread::park();
    let mut sum = get(6) + initialise();
    if cfg!(fixed) {
        barrier.wait();
    }
    sum += get(3);
    sum += *receiver.recv().unwrap() + get(4);
    sum += arrival.recv().unwrap() + get(5);
    sum += other.join().unwrap();
    let mut parts = [0, 0];
    let (left, right) = parts.split_at_mut(1);
    thread::scope(|scope| {
        scope.spawn(|| left[0] = sum);
        scope.spawn(|| right[0] = 1);
    });
    assert!(parts[0] + parts[1] > 1);
}
