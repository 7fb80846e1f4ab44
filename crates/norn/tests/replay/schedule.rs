//! Handwritten schedules.

use std::fs;

use serde_json::json;

use crate::kit::subject;

#[test]
fn a_schedule_can_force_a_lost_update() {
    let subject = subject("lost_update.c");
    let read = subject.line("// read");
    let ran = subject.follow(&[
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": format!("read {read}")})),
        ("T0.2", json!("end")),
        ("T0.1", json!("end")),
    ]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(ran.stderr.contains("followed: 4 of 4 segments"), "{ran:?}");
    assert!(ran.stderr.contains("assertion failed: counter == 2"), "{ran:?}");
}

#[test]
fn a_schedule_can_prevent_a_lost_update() {
    let subject = subject("lost_update.c");
    let ran = subject.follow(&[
        ("T0", json!({"before": "join"})),
        ("T0.2", json!("end")),
        ("T0.1", json!("end")),
    ]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "both were counted\n"), "{ran:?}");
    assert!(ran.stderr.contains("followed: 3 of 3 segments"), "{ran:?}");
}

#[test]
fn a_thread_that_waits_for_input_is_infeasible() {
    let subject = subject("answers.c");
    let ran = subject.follow(&[("T0", json!({"after": "fork"})), ("T0.1", json!("end"))]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), "m\n"), "{ran:?}");
    assert!(ran.stderr.contains("infeasible in segment 2 of 2: T0.1"), "{ran:?}");
}

#[test]
fn a_schedule_can_force_a_deadlock() {
    let subject = subject("two_locks.c");
    let ran = subject.follow(&[
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": "lock in rightwards"})),
        ("T0.2", json!({"before": "lock in leftwards x2"})),
        ("T0.1", json!("blocks")),
    ]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(ran.stderr.contains("norn: deadlock"), "{ran:?}");
}

#[test]
fn a_schedule_that_violates_a_lock_is_infeasible() {
    let subject = subject("two_locks.c");
    let ran = subject.follow(&[
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": "lock in rightwards"})),
        ("T0.2", json!({"after": "lock in leftwards x2"})),
    ]);
    assert!(ran.stderr.contains("infeasible in segment 3 of 3: T0.2 is blocked"), "{ran:?}");
    assert!(ran.stderr.contains("expected  T0.2 runs until after lock in leftwards x2"), "{ran:?}");
    assert!(ran.stderr.contains("lock of left"), "{ran:?}");
}

/// Sleeping takes no real time: a thread that sleeps in a loop until another thread acts would do so
/// forever.
#[test]
fn a_thread_that_only_sleeps_is_infeasible() {
    let subject = subject("naps.c");
    let ran = subject.follow(&[
        ("T0", json!({"after": format!("write {}", subject.line("// write"))})),
        ("T0.1", json!("end")),
    ]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), "seen\n"), "{ran:?}");
    assert!(ran.stderr.contains("infeasible in segment 1 of 2: T0 spins"), "{ran:?}");
}

#[test]
fn a_thread_that_does_not_exist_is_infeasible() {
    let subject = subject("lost_update.c");
    let ran = subject.follow(&[("T0", json!({"before": "join"})), ("T0.3", json!("end"))]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(ran.stderr.contains("infeasible in segment 2 of 2: T0.3 was never"), "{ran:?}");
}

#[test]
fn an_unexpected_event_diverges() {
    let subject = subject("lost_update.c");
    let write = subject.line("// write");
    let ran = subject.follow(&[
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"event": 1, "at": format!("write {write}")})),
    ]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(ran.stderr.contains("diverged in segment 2 of 2: T0.1 came to another"), "{ran:?}");
    assert!(ran.stderr.contains("actual    event 1, read of counter at add"), "{ran:?}");
}

#[test]
fn a_clip_without_a_program_needs_one() {
    let subject = subject("lost_update.c");
    fs::write(subject.file("clip.json"), r#"{"norn": 1, "schedule": []}"#).unwrap();
    let ran = subject.replay("clip.json", &[]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(ran.stderr.contains("hint: name it: norn replay clip.json -- ./program"), "{ran:?}");
    let ran = subject.norn(["replay", "clip.json", "--", "./subject"]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "both were counted\n"), "{ran:?}");
}

#[test]
fn errors_in_schedules_have_hints() {
    let subject = subject("lost_update.c");
    let check = |thread: &str, until, expected: &str| {
        let ran = subject.follow(&[(thread, until)]);
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    check("main", json!("end"), "segment 1: `main` is no name of a thread");
    check("T0", json!("soon"), "`soon` is no end of a segment");
    check("T0", json!({"before": "look"}), "; the operations are any, read, write");
    check("T0", json!({"before": "read lost_update.c:1"}), "there is `read` on line");
    check("T0", json!({"before": "read other.c:1"}), "there is no `read` in other.c at all");
    check("T0", json!({"before": "read in nobody"}), "there is no place for `read in nobody`");
}
