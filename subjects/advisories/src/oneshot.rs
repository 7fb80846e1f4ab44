//! RUSTSEC-2021-0124, `tokio` before 1.8.4: a receiver that is closed while the value is sent.

use std::thread;

use tokio::sync::oneshot;

fn main() {
    let (sender, mut receiver) = oneshot::channel();
    let thread = thread::spawn(move || sender.send(Box::new(1)).is_ok());
    receiver.close();
    let received = receiver.try_recv().is_ok();
    let sent = thread.join().unwrap();
    assert!(sent || !received);
}
