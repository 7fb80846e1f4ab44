//! Programs that never end: their runs are cut by the number of events, and their traces stay small.

use std::{fs, path::Path};

use crate::kit::{Subject, subject};

/// The size of the chunks of a trace, in bytes.
fn size(subject: &Subject) -> u64 {
    let files = fs::read_dir(subject.file("trace")).unwrap();
    let is_chunks = |it: &Path| it.extension().is_some_and(|it| it == "chunks");
    let chunks = files.map(|it| it.unwrap().path()).filter(|it| is_chunks(it));
    chunks.map(|it| fs::metadata(it).unwrap().len()).sum()
}

/// Runs a program until it has this many events.
fn run(source: &str, events: &str, most: &str) -> u64 {
    let subject = subject(source);
    let options = ["--strategy", "round-robin", "--max-steps", events, "--max-size", most];
    let ran = subject.run(&[&options[..], &["-o", "trace"]].concat());
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(ran.stderr.contains(&format!("not finished after {events} events")), "{ran:?}");
    size(&subject)
}

#[test]
fn events_are_counted_after_recording_has_stopped() {
    let size = run("endless.c", "20000000", "1M");
    // Each thread fills the chunks that it has.
    assert!((1 << 20..8 << 20).contains(&size), "{size}");
}

#[test]
fn a_round_of_waiting_takes_a_few_bytes() {
    let size = run("restless.c", "100000", "1G");
    assert!(size < 1_000_000, "{size}");
}
