// A receiver assumes that the header comes before the body, which another thread sends.
// Finds: order on std::sync::mpsc::Sender::send(); panic

use std::sync::mpsc;
use std::thread;

#[derive(Debug, PartialEq)]
enum Message {
    Header { id: u32 },
    Body(String),
    End,
}

fn main() {
    let (tx, rx) = mpsc::channel();
    let tx2 = tx.clone();
    let a = thread::spawn(move || {
        tx.send(Message::Header { id: 7 }).unwrap();
    });
    if cfg!(fixed) {
        a.join().unwrap();
    }
    let b = thread::spawn(move || {
        tx2.send(Message::Body("hello".into())).unwrap();
        tx2.send(Message::End).unwrap();
    });
    let mut id = None;
    for m in rx {
        match m {
            Message::Header { id: i } => id = Some(i),
            Message::Body(text) => println!("{}: {text}", id.expect("body before header")),
            Message::End => println!("end"),
        }
    }
    b.join().unwrap();
}
