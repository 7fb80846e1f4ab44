//! Strategies choose the next thread.

use std::{fs, os::unix::process::ExitStatusExt as _};

use serde_json::Value;

use crate::kit::{Subject, subject};

const STRATEGIES: [&str; 4] = ["random", "pct", "pos", "round-robin"];

fn seed(subject: &Subject, strategy: &str, seed: u32) -> (Option<i32>, Option<i32>, String) {
    let ran = subject.run(&["--strategy", strategy, "--seed", &seed.to_string()]);
    (ran.status.code(), ran.status.signal(), ran.stdout + &ran.stderr)
}

#[test]
fn the_same_seed_is_the_same_run() {
    let subject = subject("lost_update.c");
    for strategy in STRATEGIES {
        for number in 0..4 {
            let first = seed(&subject, strategy, number);
            assert_eq!(first, seed(&subject, strategy, number), "{strategy} {number}");
        }
    }
}

/// The number of unsuccessful polls depends on the machine, but the schedule does not.
#[test]
fn the_same_seed_is_the_same_run_while_threads_poll() {
    let subject = subject("polls.c");
    for strategy in STRATEGIES {
        let schedule = || {
            let ran = subject.run(&["--strategy", strategy, "--seed", "3", "--save", "clip.json"]);
            assert_eq!(ran.status.code(), Some(0), "{ran:?}");
            let text = fs::read_to_string(subject.file("clip.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()["schedule"].clone()
        };
        let first = schedule();
        for _ in 0..5 {
            assert_eq!(first, schedule(), "{strategy}");
        }
    }
}

#[test]
fn some_seeds_fail_and_some_pass() {
    let subject = subject("lost_update.c");
    for strategy in ["random", "pos"] {
        let runs: Vec<_> = (0..30).map(|number| seed(&subject, strategy, number)).collect();
        let failed: Vec<_> = runs.iter().filter(|it| it.1 == Some(6)).collect();
        assert!(runs.iter().any(|it| it.0 == Some(0)), "{strategy}: {runs:?}");
        assert!(!failed.is_empty(), "{strategy}: {runs:?}");
        for run in failed {
            assert!(run.2.contains("norn: assertion failed: counter == 2 ("), "{run:?}");
        }
    }
}

#[test]
fn a_deadlock_is_found_and_ended() {
    let subject = subject("two_locks.c");
    let runs: Vec<_> = (0..30).map(|number| seed(&subject, "random", number)).collect();
    let (stuck, fine): (Vec<_>, Vec<_>) = runs.iter().partition(|it| it.0 == Some(1));
    assert!(!stuck.is_empty() && !fine.is_empty(), "{runs:?}");
    assert!(stuck.iter().all(|it| it.2.contains("norn: deadlock")), "{stuck:?}");
    assert!(fine.iter().all(|it| it.0 == Some(0) && it.2 == "both are done\n"), "{fine:?}");
}

#[test]
fn other_processes_have_time_to_answer() {
    let subject = subject("peers.c");
    for number in 0..10 {
        let run = seed(&subject, "random", number);
        assert_eq!((run.0, run.2.lines().next()), (Some(0), Some("two answers")), "{run:?}");
    }
}

#[test]
fn a_program_without_instrumentation_cannot_be_controlled() {
    let subject = subject("lost_update.c");
    let ran = subject.norn(["run", "--", "true"]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
}

#[test]
fn a_thread_that_only_reads_keeps_its_turn() {
    let ran = subject("sums.c").run(&["--strategy", "round-robin", "--format", "json"]);
    let last = ran.stdout.lines().last().unwrap_or_default();
    let told = &serde_json::from_str::<Value>(last).unwrap()["run"];
    let [events, switches] =
        [&told["events"], &told["control"]["switches"]].map(|it| it.as_u64().unwrap());
    assert!(events > 100_000, "{told}");
    // A turn has a thousand events.
    assert!(switches < events / 500, "{told}");
}

#[test]
fn a_livelock_of_threads_that_yield_takes_few_switches() {
    for strategy in STRATEGIES {
        let ran = subject("polite_spins.c").run(&["--strategy", strategy, "--format", "json"]);
        let last = ran.stdout.lines().last().unwrap_or_default();
        let told = &serde_json::from_str::<Value>(last).unwrap()["run"];
        let [events, switches] =
            [&told["events"], &told["control"]["switches"]].map(|it| it.as_u64().unwrap());
        assert_eq!(told["consequence"], "livelock", "{strategy}: {told}");
        assert!(switches < events / 20, "{strategy}: {told}");
    }
}
