// The number of participants of a barrier is decided by a flag that another thread may change too late.
// Consequence: deadlock

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

static BUSY: AtomicBool = AtomicBool::new(true);

fn main() {
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            if cfg!(fixed) || BUSY.load(SeqCst) {
                barrier.wait();
            }
        });
        BUSY.store(false, SeqCst);
        barrier.wait();
        worker.join().unwrap();
    });
}
