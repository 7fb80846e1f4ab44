//! When the time of a wait runs out is part of a schedule.

use serde_json::{Value, json};

use crate::kit::{Ran, Subject, subject};

const SEEDS: u32 = 30;

/// The events of a run, in their order, with addresses and values.
fn events(subject: &Subject, trace: &str) -> String {
    let ran = subject.norn(["dump", trace]);
    assert!(ran.status.success(), "{ran:?}");
    ran.stdout
}

/// Saves a run and replays it: both must be the same in all that is seen of them. How often somebody's
/// time ran out.
fn again(subject: &Subject, strategy: &str, seed: u32) -> usize {
    let [clip, first, second] = ["json", "first", "second"].map(|it| format!("{seed}.{it}"));
    let number = seed.to_string();
    let options = ["--strategy", strategy, "--seed", &number, "--expected", "250"];
    let ran = subject.run(&[&options[..], &["--save", &clip, "-o", &first]].concat());
    assert_eq!(ran.status.code(), Some(0), "{strategy} {seed}: {ran:?}");
    let replayed = subject.replay(&clip, &["-o", &second]);
    assert!(replayed.stderr.starts_with("norn: followed: "), "{strategy} {seed}: {replayed:?}");
    assert_eq!(replayed.status.code(), Some(0), "{strategy} {seed}: {replayed:?}");
    assert_eq!(replayed.stdout, ran.stdout, "{strategy} {seed}");
    assert_eq!(events(subject, &second), events(subject, &first), "{strategy} {seed}");
    std::fs::read_to_string(subject.file(&clip)).unwrap().matches(r#""until":"timeout""#).count()
}

/// Many seeds of a strategy, and that times did run out.
fn every_seed(strategy: &str) {
    let subject = subject("timeouts.c");
    let timeouts: Vec<_> = (0..SEEDS).map(|seed| again(&subject, strategy, seed)).collect();
    assert!(timeouts.iter().all(|it| *it > 0), "{timeouts:?}");
}

#[test]
fn a_saved_run_at_random_comes_out_the_same() {
    every_seed("random");
}

#[test]
fn a_saved_run_by_priorities_comes_out_the_same() {
    every_seed("pct");
}

#[test]
fn a_saved_run_by_priorities_of_events_comes_out_the_same() {
    every_seed("pos");
}

#[test]
fn a_saved_run_in_turn_comes_out_the_same() {
    every_seed("round-robin");
}

/// Follows a schedule that begins when all threads are there.
fn follow(subject: &Subject, schedule: &[(&str, Value)]) -> Ran {
    let start = [("T0", json!({"before": "join"}))];
    let ran = subject.follow(&[&start[..], schedule].concat());
    assert!(ran.stderr.starts_with("norn: followed: "), "{ran:?}");
    ran
}

#[test]
fn a_schedule_says_whether_a_signal_comes_in_time() {
    let subject = subject("timeouts.c");
    let (waits, signals) = ("T0.1", ("T0.5", json!({"after": "notify"})));
    // The waiter has begun to wait, and its time runs out only when it is due.
    let until_waits = (waits, json!("blocks"));
    let ran = follow(&subject, &[until_waits.clone(), signals.clone()]);
    assert!(ran.stdout.contains("timedwait 0 at"), "{ran:?}");
    // It has run out before the signal, and that is too late, even if nobody has noticed yet.
    let ran = follow(&subject, &[until_waits, (waits, json!("timeout")), signals.clone()]);
    assert!(ran.stdout.contains("timedwait 110 at"), "{ran:?}");
    // A thread goes on to where it waits.
    let ran = follow(&subject, &[(waits, json!("timeout")), signals]);
    assert!(ran.stdout.contains("timedwait 110 at"), "{ran:?}");
}

#[test]
fn who_waits_without_a_limit_has_no_time_to_run_out() {
    let subject = subject("one_signal.c");
    let ran = subject.follow(&[("T0", json!({"before": "lock"})), ("T0.1", json!("timeout"))]);
    assert!(ran.stderr.contains("infeasible in segment 2 of 2"), "{ran:?}");
}
