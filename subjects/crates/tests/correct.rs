//! Correct programs: nothing harmful may be found.

use std::{
    iter,
    sync::{
        Arc,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
    thread,
};

use rayon::prelude::*;

#[test]
fn parking_lot_mutex() {
    let total = parking_lot::Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| *total.lock() += 1);
        }
    });
    assert_eq!(total.into_inner(), 3);
}

#[test]
fn parking_lot_condvar() {
    let (lock, changed) = (parking_lot::Mutex::new(false), parking_lot::Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut ready = lock.lock();
            while !*ready {
                changed.wait(&mut ready);
            }
        });
        *lock.lock() = true;
        changed.notify_one();
    });
}

/// The second reader does not wait for the writer.
#[test]
fn parking_lot_read_twice() {
    let value = parking_lot::RwLock::new(1);
    thread::scope(|scope| {
        scope.spawn(|| *value.write() += 1);
        let first = value.read();
        assert_eq!(*first, *value.read_recursive());
    });
}

/// Readers come before writers here.
#[test]
fn dashmap_read_twice() {
    let map: dashmap::DashMap<_, _> = [("a", 1)].into_iter().collect();
    thread::scope(|scope| {
        scope.spawn(|| map.insert("a", 2));
        let first = map.get("a").unwrap();
        assert_eq!(*first, *map.get("a").unwrap());
    });
}

#[test]
fn parking_lot_upgrade() {
    let total = parking_lot::RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = total.upgradable_read();
                let next = *seen + 1;
                *parking_lot::RwLockUpgradableReadGuard::upgrade(seen) = next;
            });
        }
        assert!(*total.read() <= 2);
    });
    assert_eq!(total.into_inner(), 2);
}

#[test]
fn crossbeam_channel() {
    let (sender, receiver) = crossbeam::channel::bounded(1);
    let thread = thread::spawn(move || (0..3).for_each(|it| sender.send(it).unwrap()));
    assert_eq!(receiver.iter().sum::<i32>(), 3);
    thread.join().unwrap();
}

#[test]
fn crossbeam_epoch() {
    use crossbeam::epoch::{self, Atomic, Owned};
    let value = Atomic::new(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = epoch::pin();
            let old = value.swap(Owned::new(2), AcqRel, &guard);
            // SAFETY: no other thread replaces the value.
            unsafe { guard.defer_destroy(old) };
        });
        scope.spawn(|| {
            let guard = epoch::pin();
            // SAFETY: the value is never null, and the guard keeps it.
            let seen = *unsafe { value.load(Acquire, &guard).deref() };
            assert!(seen == 1 || seen == 2);
        });
    });
    // SAFETY: the threads have ended.
    drop(unsafe { value.into_owned() });
}

#[test]
fn crossbeam_deque() {
    let worker = crossbeam::deque::Worker::new_lifo();
    let stealer = worker.stealer();
    worker.push(1);
    worker.push(2);
    let thief = thread::spawn(move || usize::from(stealer.steal().success().is_some()));
    let own = iter::from_fn(|| worker.pop()).count();
    assert!(own + thief.join().unwrap() <= 2);
}

#[test]
fn dashmap() {
    let map = dashmap::DashMap::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *map.entry("a").or_insert(0) += 1);
        }
    });
    assert_eq!(*map.get("a").unwrap(), 2);
}

#[test]
fn once_cell() {
    let (cell, calls) = (once_cell::sync::OnceCell::new(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(*cell.get_or_init(|| calls.fetch_add(1, Relaxed)), 0));
        }
    });
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn arc_swap() {
    let value = arc_swap::ArcSwap::from_pointee(1);
    thread::scope(|scope| {
        scope.spawn(|| value.store(Arc::new(2)));
        let seen = **value.load();
        assert!(seen == 1 || seen == 2);
    });
}

#[test]
fn arc_swap_update() {
    let value = arc_swap::ArcSwap::from_pointee(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| value.rcu(|seen| **seen + 1));
        }
    });
    assert_eq!(**value.load(), 2);
}

#[test]
fn flume() {
    let (sender, receiver) = flume::unbounded();
    let thread = thread::spawn(move || (0..3).for_each(|it| sender.send(it).unwrap()));
    assert_eq!(receiver.iter().sum::<i32>(), 3);
    thread.join().unwrap();
}

#[test]
fn rayon() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let sum: i32 = pool.install(|| (0..4).into_par_iter().sum());
    assert_eq!(sum, 6);
}

/// A read of a sequence lock may see half of a write, and is then repeated.
#[test]
fn crossbeam_atomic_cell() {
    let cell = crossbeam::atomic::AtomicCell::new((1_u64, 2_u64));
    thread::scope(|scope| {
        for number in 0..2 {
            let cell = &cell;
            scope.spawn(move || {
                cell.store((number, number * 2));
                let (one, two) = cell.load();
                assert_eq!(two, one * 2);
            });
        }
    });
}

/// Threads that steal from a queue read elements while they may be overwritten, and discard those that were.
#[test]
fn rayon_steals() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let numbers: Vec<u64> = (0..20).collect();
    let sum: u64 = pool.install(|| numbers.par_iter().map(|it| it * 2).sum());
    assert_eq!(sum, 380);
    let total = AtomicUsize::new(0);
    pool.scope(|scope| {
        for number in 0..3 {
            let total = &total;
            scope.spawn(move |scope| {
                total.fetch_add(number, Relaxed);
                scope.spawn(move |_| {
                    total.fetch_add(1, Relaxed);
                });
            });
        }
    });
    assert_eq!(total.into_inner(), 6);
}

#[test]
fn rayon_update() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let total = AtomicUsize::new(0);
    pool.install(|| {
        (0..8).into_par_iter().with_max_len(1).for_each(|_| {
            total.fetch_add(1, Relaxed);
        });
    });
    assert_eq!(total.into_inner(), 8);
}

#[test]
fn tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let total = Arc::new(tokio::sync::Mutex::new(0));
    let add = |total: Arc<tokio::sync::Mutex<i32>>| async move { *total.lock().await += 1 };
    runtime.block_on(async {
        let tasks = [tokio::spawn(add(total.clone())), tokio::spawn(add(total.clone()))];
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*total.lock().await, 2);
    });
}
