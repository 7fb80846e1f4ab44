//! Runs with signals, timers and cancellation are reproducible: their clips replay to the same
//! result and follow their schedules.

use serde_json::{Value, json};

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
    for source in ["woken_too_late.c", "woken_readers.cc", "woken_in_time.c"] {
        assert!(every_run(source, 10) > 5, "{source}: no thread was blocked");
    }
}

#[test]
fn handlers_timers_and_interrupted_calls_are_replayed() {
    assert_eq!(every_run("signals.c", 6), 0, "no run fails");
}

/// How often the unwinder of the compiler's library reads its tables is not the same in a replay, so
/// that the schedule may be left there; but all replays do the same.
#[test]
fn cancellation_anywhere_ends_the_threads() {
    let subject = subject("cancelled_anywhere.c");
    for strategy in STRATEGIES {
        for seed in ["0", "1", "2", "3", "4", "5"] {
            let run = ["--strategy", strategy, "--seed", seed, "--save", "clip.json"];
            let ran = subject.run(&run);
            assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "2\n"), "{run:?}: {ran:?}");
            let replayed = subject.replay("clip.json", &["--times", "5"]);
            let same = "5 of 5 runs are the same: ";
            assert!(replayed.stdout.starts_with(same), "{run:?}: {replayed:?}");
            assert!(replayed.stdout.contains("no failure"), "{run:?}: {replayed:?}");
        }
    }
}

/// Signals of another process come at any time, and no schedule decides when: the program must end.
#[test]
fn signals_from_outside_stop_no_run() {
    let subject = subject("shelled.c");
    for strategy in STRATEGIES {
        let ran = subject.run(&["--strategy", strategy, "--times", "3", "-j", "1"]);
        assert!(ran.status.success(), "{strategy}: {ran:?}");
        assert!(ran.stdout.contains("no failure"), "{strategy}: {ran:?}");
    }
}

/// A schedule names the handlers of a thread, and they run where it says.
#[test]
fn a_schedule_decides_which_access_a_handler_interrupts() {
    let subject = subject("interrupting.c");
    let [read, write] = ["read", "write"].map(|it| {
        let line = subject.line(&format!("// {it}"));
        json!({"before": format!("{it} {line}")})
    });
    let counts = |interrupted: &Value| {
        let ran = subject.follow(&[
            ("T0", read.clone()),
            ("T0.1", json!("end")),
            ("T0", interrupted.clone()),
            ("T0!", json!("end")),
            ("T0", json!("end")),
        ]);
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        ran.stdout
    };
    assert_eq!(counts(&read), "11\n");
    assert_eq!(counts(&write), "1\n");
}

/// A thread that waits for a signal which its program will not send again waits for ever.
#[test]
fn lost_signals_are_deadlocks_that_replay() {
    let deadlocks = every_run("lost_signals.c", 6);
    assert!(deadlocks > 5, "{deadlocks} of 24 runs");
}

/// Only a schedule in which the second signal is dropped ends in a deadlock, and its story says where both
/// were sent.
#[test]
fn the_story_of_a_lost_signal_has_those_that_were_sent() {
    let subject = subject("lost_signals.c");
    let blocks = || json!("blocks");
    let end = || json!("end");
    let merged = [("T0", blocks()), ("T0.3", end()), ("T0.4", end()), ("T0.1", blocks())];
    let ran = subject.follow(&merged);
    assert!(ran.stderr.contains("deadlock"), "{ran:?}");
    let waits = "T0.1  waits for the signal SIGUSR1 at wait_twice lost_signals.c:";
    assert!(ran.stderr.contains(waits), "{ran:?}");
    let lost = "T0.3 sent SIGUSR1 to the process before the wait began, and no thread received it";
    assert!(ran.stderr.contains(lost), "{ran:?}");
    let received = "T0.4 sent SIGUSR1 to the process before the wait began, and T0.1 received it";
    assert!(ran.stderr.contains(received), "{ran:?}");
    let one = |it: &'static str| [(it, end()), ("T0.1", blocks()), ("T0.2", blocks())];
    let first = [("T0", blocks()), ("T0.1", blocks()), ("T0.2", blocks())];
    let ran = subject.follow(&[&first[..], &one("T0.3"), &one("T0.4")].concat());
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}

/// A daemon waits for a signal that the program never sends, although it does send another one.
#[test]
fn a_wait_for_a_signal_from_outside_is_no_deadlock() {
    let ran = subject("daemon.c").run(&["--timeout", "2"]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(ran.stderr.contains("not finished"), "{ran:?}");
    assert!(ran.stderr.contains("T0    waits for something outside of the program"), "{ran:?}");
}
