//! The expiry of timeouts is part of a schedule.

use serde_json::{Value, json};

use crate::kit::{Ran, Subject, subject};

const SEEDS: u32 = 30;

/// The events of a run, in their order, with addresses and values.
fn events(subject: &Subject, trace: &str) -> String {
    let ran = subject.norn(["dump", trace]);
    assert!(ran.status.success(), "{ran:?}");
    ran.stdout
}

/// Saves a run and replays it: all events and the output must be the same. Returns the number of
/// expired timeouts.
fn again(subject: &Subject, strategy: &str, seed: u32) -> usize {
    let [clip, first, second] = ["json", "first", "second"].map(|it| format!("{seed}.{it}"));
    let number = seed.to_string();
    let options = ["--strategy", strategy, "--seed", &number, "--expected", "250"];
    let ran = subject.run(&[&options[..], &["--save", &clip, "-o", &first]].concat());
    assert_eq!(ran.status.code(), Some(0), "{strategy} {seed}: {ran:?}");
    let replayed = subject.replay(&clip, &["-o", &second]);
    assert!(replayed.stderr.contains("\nnorn: followed: "), "{strategy} {seed}: {replayed:?}");
    assert_eq!(replayed.status.code(), Some(0), "{strategy} {seed}: {replayed:?}");
    assert_eq!(replayed.stdout, ran.stdout, "{strategy} {seed}");
    assert_eq!(events(subject, &second), events(subject, &first), "{strategy} {seed}");
    std::fs::read_to_string(subject.file(&clip)).unwrap().matches(r#""until":"timeout""#).count()
}

/// Checks several seeds of a strategy, and that timeouts expire.
fn every_seed(strategy: &str) {
    let subject = subject("timeouts.c");
    let timeouts: Vec<_> = (0..SEEDS).map(|seed| again(&subject, strategy, seed)).collect();
    assert!(timeouts.iter().all(|it| *it > 0), "{timeouts:?}");
}

#[test]
fn a_random_run_is_reproducible() {
    every_seed("random");
}

#[test]
fn a_pct_run_is_reproducible() {
    every_seed("pct");
}

#[test]
fn a_pos_run_is_reproducible() {
    every_seed("pos");
}

#[test]
fn a_round_robin_run_is_reproducible() {
    every_seed("round-robin");
}

/// Follows a schedule that begins when all threads exist.
fn follow(subject: &Subject, schedule: &[(&str, Value)]) -> Ran {
    let start = [("T0", json!({"before": "join"}))];
    let ran = subject.follow(&[&start[..], schedule].concat());
    assert!(ran.stderr.contains("\nnorn: followed: "), "{ran:?}");
    ran
}

#[test]
fn a_schedule_decides_whether_a_signal_arrives_in_time() {
    let subject = subject("timeouts.c");
    let (waits, signals) = ("T0.1", ("T0.5", json!({"after": "notify"})));
    // The thread waits, and its timeout expires only where the schedule says so.
    let until_waits = (waits, json!("blocks"));
    let ran = follow(&subject, &[until_waits.clone(), signals.clone()]);
    assert!(ran.stdout.contains("timedwait 0 at"), "{ran:?}");
    // The timeout expires before the signal, which is then too late, although the thread has not run yet.
    let ran = follow(&subject, &[until_waits, (waits, json!("timeout")), signals.clone()]);
    assert!(ran.stdout.contains("timedwait 110 at"), "{ran:?}");
    // A segment with a timeout includes the events up to the wait.
    let ran = follow(&subject, &[(waits, json!("timeout")), signals]);
    assert!(ran.stdout.contains("timedwait 110 at"), "{ran:?}");
}

#[test]
fn a_timeout_of_an_untimed_wait_is_infeasible() {
    let subject = subject("one_signal.c");
    let ran = subject.follow(&[("T0", json!({"before": "lock"})), ("T0.1", json!("timeout"))]);
    assert!(ran.stderr.contains("infeasible in segment 2 of 2"), "{ran:?}");
}

/// The signals of `ualarm`, of a timer to the process and of a timer to a thread, which is given by its
/// id.
#[test]
fn timers_that_send_signals_expire_again_in_a_replay() {
    let subject = subject("timer_signals.c");
    for seed in ["1", "2", "3"] {
        let ran = subject.run(&["--seed", seed, "--save", "clip.json"]);
        assert_eq!(ran.stdout, "to the process: 5\nto a thread: 9\n", "{ran:?}");
        let many = subject.replay("clip.json", &["--times", "5"]);
        assert!(many.stdout.contains("5 of 5 runs are the same: followed"), "{many:?}");
    }
}
