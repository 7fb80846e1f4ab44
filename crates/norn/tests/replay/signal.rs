//! Runs with signals, timers and cancellation are reproducible: their clips replay to the same
//! result and follow their schedules.

use crate::kit::{Subject, subject};

const STRATEGIES: [&str; 4] = ["random", "pct", "pos", "round-robin"];

/// Saves a run and replays it several times: each replay follows the schedule, and ends in the same
/// way. Returns whether the program failed.
fn again(subject: &Subject, strategy: &str, seed: u32) -> bool {
    let clip = format!("{strategy}-{seed}.json");
    let number = seed.to_string();
    let ran = subject.run(&["--strategy", strategy, "--seed", &number, "--save", &clip]);
    let replayed = subject.replay(&clip, &["--times", "5"]);
    let what = format!("{strategy} {seed}: {ran:?} {replayed:?}");
    assert!(replayed.stdout.starts_with("5 of 5 runs are the same: followed "), "{what}");
    assert!(!replayed.stderr.contains("diverged"), "{what}");
    !ran.status.success()
}

/// Checks several seeds of all strategies. Returns in how many runs the program failed.
fn every_run(source: &str, seeds: u32) -> usize {
    let subject = subject(source);
    let runs = STRATEGIES.iter().flat_map(|it| (0..seeds).map(move |seed| (*it, seed)));
    runs.filter(|(strategy, seed)| again(&subject, strategy, *seed)).count()
}

#[test]
fn a_thread_that_was_woken_and_is_blocked_by_the_mutex_is_replayed() {
    assert!(every_run("woken_too_late.c", 10) > 5, "no thread was blocked");
}
