// A cache is filled twice: the read lock is released before the write lock is taken.
// Finds: order on CACHE; panic

use std::{
    sync::{
        RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

static CACHE: RwLock<Option<u32>> = RwLock::new(None);
static LOADS: AtomicU32 = AtomicU32::new(0);

fn load() -> u32 {
    LOADS.fetch_add(1, SeqCst);
    7
}

fn get() -> u32 {
    if let Some(value) = *CACHE.read().unwrap() {
        return value;
    }
    let mut cache = CACHE.write().unwrap();
    if cfg!(fixed) {
        return *cache.get_or_insert_with(load);
    }
    let value = load();
    *cache = Some(value);
    value
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(get);
        scope.spawn(get);
    });
    assert_eq!(LOADS.load(SeqCst), 1, "the value was loaded twice");
}
