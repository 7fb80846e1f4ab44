// A lazy value is initialised with a lock held; another thread holds the value's initialisation and needs
// the lock.
// Consequence: deadlock

use std::{
    sync::{LazyLock, Mutex},
    thread,
};

static SETTINGS: Mutex<u32> = Mutex::new(3);
static LIMIT: LazyLock<u32> = LazyLock::new(|| *SETTINGS.lock().unwrap() * 2);

fn main() {
    if cfg!(fixed) {
        LazyLock::force(&LIMIT);
    }
    let user = thread::spawn(|| assert_eq!(*LIMIT, 6));
    let settings = SETTINGS.lock().unwrap();
    assert!(*settings < *LIMIT);
    drop(settings);
    user.join().unwrap();
}
