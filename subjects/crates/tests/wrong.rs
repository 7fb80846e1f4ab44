//! Programs with bugs in the use of these crates.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use rayon::prelude::*;

/// Long enough for another thread to come first when nobody controls the schedule.
const A_WHILE: Duration = Duration::from_millis(20);

#[test]
fn parking_lot_deadlock() {
    let (first, second) = (parking_lot::Mutex::new(1), parking_lot::Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| *first.lock() + *second.lock());
        thread::sleep(A_WHILE);
        let taken = second.lock();
        assert_eq!(*first.lock() + *taken, 3);
    });
}

/// The flag is set without the lock.
#[test]
fn parking_lot_lost_wakeup() {
    let (lock, changed) = (parking_lot::Mutex::new(()), parking_lot::Condvar::new());
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = lock.lock();
            while !ready.load(SeqCst) {
                changed.wait(&mut guard);
            }
        });
        ready.store(true, SeqCst);
        changed.notify_one();
    });
}

#[test]
fn parking_lot_check_then_act() {
    let balance = parking_lot::RwLock::new(100);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let has_enough = *balance.read() >= 80;
                if has_enough {
                    *balance.write() -= 80;
                }
            });
        }
    });
    assert!(balance.into_inner() >= 0);
}

/// A writer that waits comes before the second reader.
#[test]
fn parking_lot_read_twice() {
    let value = parking_lot::RwLock::new(1);
    thread::scope(|scope| {
        scope.spawn(|| *value.write() += 1);
        let first = value.read();
        assert_eq!(*first, *value.read());
    });
}

/// Nothing says who sends first.
#[test]
fn crossbeam_order() {
    let (first, receiver) = crossbeam::channel::unbounded();
    let second = first.clone();
    let thread = thread::spawn(move || first.send(1).unwrap());
    thread::sleep(A_WHILE);
    second.send(2).unwrap();
    assert_eq!(receiver.recv().unwrap(), 1);
    thread.join().unwrap();
}

#[test]
fn dashmap_check_then_act() {
    let map: dashmap::DashMap<_, _> = [("a", 1)].into_iter().collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if map.contains_key("a") {
                    map.remove("a").unwrap();
                }
            });
        }
    });
}

#[test]
fn arc_swap_lost_update() {
    let value = arc_swap::ArcSwap::from_pointee(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = **value.load();
                value.store(Arc::new(seen + 1));
            });
        }
    });
    assert_eq!(**value.load(), 2);
}

#[test]
fn rayon_lost_update() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let total = AtomicUsize::new(0);
    pool.install(|| {
        (0..8).into_par_iter().with_max_len(1).for_each(|_| {
            let seen = total.load(SeqCst);
            total.store(seen + 1, SeqCst);
        });
    });
    assert_eq!(total.into_inner(), 8);
}

/// The sender needs the lock that the receiver holds while it waits.
#[test]
fn flume_lock_over_recv() {
    let (sender, receiver) = flume::bounded(0);
    let lock = Mutex::new(());
    thread::scope(|scope| {
        let lock = &lock;
        scope.spawn(move || {
            drop(lock.lock().unwrap());
            sender.send(1).unwrap();
        });
        thread::sleep(A_WHILE);
        let _guard = lock.lock().unwrap();
        receiver.recv().unwrap();
    });
}

/// A task waits for a lock that is held while the task is awaited.
#[test]
fn tokio_blocking_lock() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let lock = Arc::new(Mutex::new(()));
    let other = Arc::clone(&lock);
    runtime.block_on(async move {
        let task = tokio::spawn(async move { drop(other.lock().unwrap()) });
        thread::sleep(A_WHILE);
        let _guard = lock.lock().unwrap();
        task.await.unwrap();
    });
}
