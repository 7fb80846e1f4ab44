//! Runs under the memory model of C++: atomic loads return older values where it allows that, and
//! nowhere else, and replays return the same ones.

use crate::kit::{Ran, Subject, subject_with};

/// The litmus test with these macros.
fn litmus(macros: &[&str]) -> Subject {
    let flags: Vec<_> = macros.iter().map(|it| format!("-D{it}")).collect();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    subject_with("litmus.c", &flags)
}

/// Repeated runs of a litmus test, until one fails.
fn explore(subject: &Subject, memory: &str) -> Ran {
    let options = ["--strategy", "pos", "--times", "300", "--until-failure", "--save", "clip.json"];
    subject.run(&[&["--memory", memory, "-j", "2"], &options[..]].concat())
}

/// Runs the test under both memory models. It must fail under C++'s alone, and the clip of the failing
/// run must fail again.
#[track_caller]
fn shown(macros: &[&str]) {
    let subject = litmus(macros);
    let ran = explore(&subject, "sc");
    assert_eq!(ran.status.code(), Some(0), "{macros:?}: {ran:?}");
    let ran = explore(&subject, "c11");
    assert_eq!(ran.status.code(), Some(1), "{macros:?}: {ran:?}");
    let replayed = subject.replay("clip.json", &["--times", "20"]);
    assert_eq!(replayed.status.code(), Some(1), "{macros:?}: {replayed:?}");
    assert!(replayed.stdout.contains("20 of 20 runs are the same"), "{macros:?}: {replayed:?}");
}

/// Runs the test under the memory model of C++, which forbids the failure.
#[track_caller]
fn forbidden(macros: &[&str]) {
    let ran = explore(&litmus(macros), "c11");
    assert_eq!(ran.status.code(), Some(0), "{macros:?}: {ran:?}");
}

const RELAXED: [&str; 2] = ["STORE=memory_order_relaxed", "LOAD=memory_order_relaxed"];
const PAIRED: [&str; 2] = ["STORE=memory_order_release", "LOAD=memory_order_acquire"];
const SEQ_CST: [&str; 2] = ["STORE=memory_order_seq_cst", "LOAD=memory_order_seq_cst"];

fn with<'a>(test: &'a str, orders: [&'a str; 2]) -> [&'a str; 3] {
    [test, orders[0], orders[1]]
}

#[test]
fn relaxed_message_passing_fails() {
    shown(&with("TEST=MESSAGE", RELAXED));
}

#[test]
fn message_passing_by_release_and_acquire_works() {
    forbidden(&with("TEST=MESSAGE", PAIRED));
    let fence = "FENCE=atomic_thread_fence(memory_order_acq_rel)";
    forbidden(&[&with("TEST=MESSAGE", RELAXED)[..], &[fence]].concat());
}

#[test]
fn store_buffers_are_shown_without_sequential_consistency() {
    shown(&with("TEST=BUFFER", PAIRED));
}

#[test]
fn sequential_consistency_forbids_store_buffers() {
    forbidden(&with("TEST=BUFFER", SEQ_CST));
    let fence = "FENCE=atomic_thread_fence(memory_order_seq_cst)";
    forbidden(&[&with("TEST=BUFFER", RELAXED)[..], &[fence]].concat());
}

#[test]
fn readers_disagree_without_sequential_consistency() {
    shown(&with("TEST=READERS", PAIRED));
    forbidden(&with("TEST=READERS", SEQ_CST));
}

#[test]
fn updates_continue_release_sequences() {
    forbidden(&with("TEST=SEQUENCE", PAIRED));
    shown(&with("TEST=SEQUENCE", RELAXED));
}

#[test]
fn a_thread_never_reads_an_object_backwards() {
    forbidden(&with("TEST=COHERENCE", RELAXED));
}

#[test]
fn the_report_says_that_older_values_were_read() {
    let subject = litmus(&with("TEST=MESSAGE", RELAXED));
    let ran = explore(&subject, "c11");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let replayed = subject.replay("clip.json", &[]);
    assert!(replayed.stderr.contains("returned an older value"), "{replayed:?}");
}
