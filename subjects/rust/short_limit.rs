// A client waits 20 ms for each answer, and takes its absence for an error.
// Consequence: panic

use std::{sync::mpsc, thread, time::Duration};

/// No thread that can run takes a day to answer.
const LIMIT: Duration = Duration::from_millis(if cfg!(fixed) { 24 * 60 * 60 * 1000 } else { 20 });

fn main() {
    let (ask, questions) = mpsc::channel::<u32>();
    let (reply, answers) = mpsc::channel();
    let server = thread::spawn(move || {
        for question in questions {
            if reply.send(question * question).is_err() {
                break;
            }
        }
    });
    for question in 0..8 {
        ask.send(question).unwrap();
        let answer = answers.recv_timeout(LIMIT).expect("no answer");
        assert_eq!(answer, question * question);
    }
    drop(ask);
    server.join().unwrap();
}
