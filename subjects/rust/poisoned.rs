// A thread that gives up while it holds a lock poisons it, and all later users fail as well.
// Consequence: panic

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

static JOBS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static CLOSED: AtomicBool = AtomicBool::new(false);

fn add() {
    let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
    if cfg!(fixed) {
        if !CLOSED.load(SeqCst) {
            jobs.push(1);
        }
        return;
    }
    assert!(!CLOSED.load(SeqCst), "a job after the end");
    jobs.push(1);
}

fn main() {
    let worker = thread::spawn(add);
    CLOSED.store(true, SeqCst);
    let _ = worker.join();
    println!("{} jobs", JOBS.lock().unwrap().len());
}
