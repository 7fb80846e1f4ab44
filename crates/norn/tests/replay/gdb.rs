//! Replay in gdb: stops and steps do not change the schedule of the clip.

use serde_json::json;

use crate::kit::{self, Ran, Subject, subject};

/// Replays the clip in gdb, which is given these commands.
fn gdb(subject: &Subject, commands: &[&str]) -> Ran {
    let words = ["replay", "--timeout", "40", "--gdb", "clip.json", "--", "-nx", "-batch"];
    let commands = commands.iter().flat_map(|it| ["-ex", it]);
    subject.norn(words.into_iter().chain(commands))
}

fn lost_update() -> Subject {
    let subject = subject("lost_update.c");
    let schedule = [
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": "read in add"})),
        ("T0.2", json!("end")),
        ("T0.1", json!("end")),
    ];
    subject.write(&[], &schedule);
    subject
}

#[test]
fn stops_and_steps_do_not_change_the_schedule() {
    let subject = lost_update();
    let steps = ["break add", "run", "next", "next", "info threads", "step", "delete", "continue"];
    let ran = gdb(&subject, &steps);
    assert!(ran.stdout.contains("received signal SIGABRT"), "{ran:?}");
    assert!(ran.stderr.contains("norn: followed: 4 of 4 segments"), "{ran:?}");
    assert!(ran.stderr.contains("norn: assertion failed: counter == 2"), "{ran:?}");
    assert!(ran.stderr.contains("T0.1 wrote 1 there at add lost_update.c:"), "{ran:?}");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
}

#[test]
fn gdb_goes_from_switch_to_switch_and_back() {
    let subject = lost_update();
    let forward = ["norn-next", "norn-next", "norn-next", "norn-next"];
    let ran = gdb(&subject, &forward);
    let stops: Vec<_> = ran.stdout.lines().filter(|it| it.starts_with("norn: ")).collect();
    // The first thread waits for the others, the second one is held back after its read, and fails in
    // the end.
    assert!(stops[0].starts_with("norn: switch 1: thread 1 is stopped in main at "), "{ran:?}");
    assert!(stops[1].starts_with("norn: switch 2: thread 2 is stopped in add at "), "{ran:?}");
    assert!(ran.stdout.contains("received signal SIGABRT"), "{ran:?}");
    let ran = gdb(&subject, &["norn-next", "norn-next", "norn-back", "norn-where", "norn-back"]);
    let stops: Vec<_> = ran.stdout.lines().filter(|it| it.starts_with("norn: ")).collect();
    assert_eq!(stops[0], stops[2], "{ran:?}");
    assert!(ran.stdout.contains("* thread 1  main at "), "{ran:?}");
    assert!(ran.stderr.contains("norn: there is no switch before this one"), "{ran:?}");
}

#[test]
fn a_deadlock_is_shown() {
    let subject = subject("two_locks.c");
    let schedule = [
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": "lock in rightwards"})),
        ("T0.2", json!("blocks")),
        ("T0.1", json!("blocks")),
    ];
    subject.write(&[], &schedule);
    let ran = gdb(&subject, &["run", "thread apply all bt"]);
    assert!(ran.stdout.contains("received signal SIGINT"), "{ran:?}");
    for (function, line) in [("rightwards", 9), ("leftwards", 17)] {
        let frame = |it: &str| {
            it.contains(&format!("in {function} (")) && it.ends_with(&format!("two_locks.c:{line}"))
        };
        assert!(ran.stdout.lines().any(frame), "{ran:?}");
    }
    assert!(ran.stderr.contains("norn: deadlock"), "{ran:?}");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
}

#[test]
fn a_memory_error_is_shown_where_it_is() {
    let subject = subject("heap_errors.c");
    subject.write(&[], &[("T0", json!("end"))]);
    let ran = gdb(&subject, &["run", "bt"]);
    assert!(ran.stdout.contains("received signal SIGINT"), "{ran:?}");
    let frame = |it: &str| it.contains("in main (") && it.ends_with(&subject.line("// use"));
    assert!(ran.stdout.lines().any(frame), "{ran:?}");
    assert!(ran.stderr.contains("norn: use after free"), "{ran:?}");
}

#[test]
fn a_crash_is_reported() {
    let subject = subject("null_pointer.c");
    let schedule = [("T0", json!({"before": "write in main x2"})), ("T0.1", json!("end"))];
    subject.write(&[], &schedule);
    let ran = gdb(&subject, &["run", "bt"]);
    assert!(ran.stdout.contains("received signal SIGSEGV"), "{ran:?}");
    assert!(ran.stderr.contains("norn: gdb ended the program before"), "{ran:?}");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let ran = gdb(&subject, &["run", "continue"]);
    assert!(ran.stderr.contains("norn: signal 11 at look null_pointer.c:"), "{ran:?}");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
}

#[test]
fn a_restarted_program_follows_the_schedule_again() {
    let ran = gdb(&lost_update(), &["run", "run"]);
    assert_eq!(ran.stdout.matches("received signal SIGABRT").count(), 2, "{ran:?}");
    let subject = subject("self_lock.c");
    subject.write(&[], &[("T0", json!({"before": "join"}))]);
    let ran = gdb(&subject, &["run", "run"]);
    assert_eq!(ran.stdout.matches("received signal SIGINT").count(), 2, "{ran:?}");
    assert!(ran.stderr.contains("T0.1  waits for lock, which it holds itself,"), "{ran:?}");
}

#[test]
fn a_program_that_passes_in_gdb_has_status_0() {
    let subject = subject("lost_update.c");
    subject.write(&[], &[("T0", json!({"before": "join"})), ("T0.1", json!("end"))]);
    let ran = gdb(&subject, &["run"]);
    assert!(ran.stdout.contains("both were counted"), "{ran:?}");
    assert!(ran.stderr.contains("norn: no failure"), "{ran:?}");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}

#[test]
fn a_missing_gdb_is_an_error() {
    let subject = lost_update();
    let mut command = subject.command(["replay", "--gdb", "clip.json"]);
    command.env("PATH", "/nowhere");
    let ran = kit::run(command);
    assert!(ran.stderr.contains("norn: cannot find gdb\nhint: install gdb"), "{ran:?}");
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
}

#[test]
fn gdb_excludes_repeated_runs_and_checks() {
    let subject = lost_update();
    for (option, value) in [("--times", "2"), ("--check", "true")] {
        let ran = subject.norn(["replay", "--gdb", option, value, "clip.json"]);
        assert!(ran.stderr.contains("cannot be used with"), "{ran:?}");
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    }
    // Without `--gdb`, the argument is the name of a program.
    let ran = subject.norn(["replay", "clip.json", "--", "-batch"]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
}
