// A connection is opened twice: the map is searched and filled under two locks.
// Consequence: panic

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

static POOL: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());
static OPENED: AtomicU32 = AtomicU32::new(0);

fn open() -> u32 {
    OPENED.fetch_add(1, SeqCst)
}

fn connection(host: &'static str) {
    if cfg!(fixed) {
        POOL.lock().unwrap().entry(host).or_insert_with(open);
        return;
    }
    let known = POOL.lock().unwrap().contains_key(host);
    if !known {
        let new = open();
        POOL.lock().unwrap().insert(host, new);
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| connection("example.org"));
        scope.spawn(|| connection("example.org"));
    });
    assert_eq!(OPENED.load(SeqCst), 1, "opened twice");
}
