// A thread stops a pool without holding its lock, between the check of a worker and its wait.
// Consequence: deadlock

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() + Send + 'static>;

struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    ready: Condvar,
    stop: AtomicBool,
}

struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(n: usize) -> Pool {
        let shared = Arc::new(Shared {
            jobs: Mutex::new(VecDeque::new()),
            ready: Condvar::new(),
            stop: AtomicBool::new(false),
        });
        let workers = (0..n)
            .map(|i| {
                let shared = Arc::clone(&shared);
                thread::Builder::new()
                    .name(format!("worker-{i}"))
                    .spawn(move || worker(&shared))
                    .unwrap()
            })
            .collect();
        Pool { shared, workers }
    }
    fn execute(&self, f: impl FnOnce() + Send + 'static) {
        self.shared.jobs.lock().unwrap().push_back(Box::new(f));
        self.shared.ready.notify_one();
    }
}

fn worker(shared: &Shared) {
    loop {
        let mut jobs = shared.jobs.lock().unwrap();
        let job = loop {
            if let Some(job) = jobs.pop_front() {
                break Some(job);
            }
            if shared.stop.load(Ordering::SeqCst) {
                break None;
            }
            jobs = shared.ready.wait(jobs).unwrap();
        };
        drop(jobs);
        match job {
            Some(job) => job(),
            None => return,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if cfg!(fixed) {
            let _guard = self.shared.jobs.lock().unwrap();
            self.shared.stop.store(true, Ordering::SeqCst);
        } else {
            self.shared.stop.store(true, Ordering::SeqCst);
        }
        self.shared.ready.notify_all();
        for w in self.workers.drain(..) {
            w.join().unwrap();
        }
    }
}

fn main() {
    let done = Arc::new(AtomicUsize::new(0));
    {
        let pool = Pool::new(2);
        for _ in 0..3 {
            let done = done.clone();
            pool.execute(move || {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    }
    assert_eq!(done.load(Ordering::Relaxed), 3);
}
