//! Programs with bugs in the use of these crates.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

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
