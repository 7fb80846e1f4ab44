// Looks whether a `OnceLock` is empty and then sets it: the second one to do so fails.
// Consequence: panic

use std::{sync::OnceLock, thread};

static NAME: OnceLock<String> = OnceLock::new();

fn name() -> &'static str {
    if cfg!(fixed) {
        return NAME.get_or_init(|| "norn".to_owned());
    }
    if NAME.get().is_none() {
        NAME.set("norn".to_owned()).unwrap();
    }
    NAME.get().unwrap()
}

fn main() {
    let threads = [thread::spawn(name), thread::spawn(name)];
    for thread in threads {
        assert_eq!(thread.join().unwrap(), "norn");
    }
}
