//! Five programs with a bug each.

use shuttle::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// Two threads read a counter and then write it.
pub fn lost_update() {
    let total = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&total);
    let thread = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    total.store(total.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    assert_eq!(total.load(SeqCst), 2);
}

/// Two threads check a balance and then change it, under a lock each time.
pub fn check_then_act() {
    let balance = Arc::new(Mutex::new(100));
    let withdraw = |balance: Arc<Mutex<i32>>| {
        let has_enough = *balance.lock().unwrap() >= 80;
        if has_enough {
            *balance.lock().unwrap() -= 80;
        }
    };
    let other = Arc::clone(&balance);
    let thread = thread::spawn(move || withdraw(other));
    withdraw(Arc::clone(&balance));
    thread.join().unwrap();
    assert!(*balance.lock().unwrap() >= 0);
}

/// Two threads take two locks in different order.
pub fn deadlock() {
    let locks = Arc::new((Mutex::new(1), Mutex::new(2)));
    let other = Arc::clone(&locks);
    let thread = thread::spawn(move || *other.0.lock().unwrap() + *other.1.lock().unwrap());
    let second = locks.1.lock().unwrap();
    assert_eq!(*second + *locks.0.lock().unwrap(), 3);
    drop(second);
    thread.join().unwrap();
}

/// A flag is set without the lock of the thread that waits for it.
pub fn lost_wakeup() {
    let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let mut guard = other.0.lock().unwrap();
        while !other.2.load(SeqCst) {
            guard = other.1.wait(guard).unwrap();
        }
    });
    shared.2.store(true, SeqCst);
    shared.1.notify_one();
    thread.join().unwrap();
}

/// A thread is asked to stop before it counts anything.
pub fn early_stop() {
    let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        for _ in 0..3 {
            if other.0.load(SeqCst) {
                return;
            }
            other.1.fetch_add(1, SeqCst);
        }
    });
    let seen = shared.1.load(SeqCst);
    shared.0.store(true, SeqCst);
    thread.join().unwrap();
    assert!(seen != 1 || shared.1.load(SeqCst) != 2);
}
