//! Schedules that people write.

use std::fs;

use serde_json::json;

use crate::kit::subject;

#[test]
fn a_lost_update() {
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
fn no_lost_update() {
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
fn who_waits_for_a_message_of_others_is_not_waited_for() {
    let subject = subject("answers.c");
    let ran = subject.follow(&[("T0", json!({"after": "fork"})), ("T0.1", json!("end"))]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), "m\n"), "{ran:?}");
    assert!(ran.stderr.contains("infeasible in segment 2 of 2: T0.1"), "{ran:?}");
}

#[test]
fn a_deadlock() {
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
fn what_a_lock_forbids_is_infeasible() {
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

/// Sleeping takes no time here: a thread that sleeps until another has done something would do so for
/// ever.
#[test]
fn who_only_sleeps_does_not_come_to_its_point() {
    let subject = subject("naps.c");
    let ran = subject.follow(&[
        ("T0", json!({"after": format!("write {}", subject.line("// write"))})),
        ("T0.1", json!("end")),
    ]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), "seen\n"), "{ran:?}");
    assert!(ran.stderr.contains("infeasible in segment 1 of 2: T0 spins"), "{ran:?}");
}

#[test]
fn who_is_not_there_is_infeasible() {
    let subject = subject("lost_update.c");
    let ran = subject.follow(&[("T0", json!({"before": "join"})), ("T0.3", json!("end"))]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(ran.stderr.contains("infeasible in segment 2 of 2: T0.3 was never"), "{ran:?}");
}

#[test]
fn another_event_than_the_expected_one_diverges() {
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
fn a_clip_without_a_program() {
    let subject = subject("lost_update.c");
    fs::write(subject.file("clip.json"), r#"{"norn": 1, "schedule": []}"#).unwrap();
    let ran = subject.replay("clip.json", &[]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(ran.stderr.contains("hint: name it: norn replay clip.json -- ./program"), "{ran:?}");
    let ran = subject.norn(["replay", "clip.json", "--", "./subject"]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "both were counted\n"), "{ran:?}");
}

#[test]
fn mistakes_are_named() {
    let subject = subject("lost_update.c");
    let check = |thread: &str, until, expected: &str| {
        let ran = subject.follow(&[(thread, until)]);
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    check("main", json!("end"), "segment 1: `main` is no name of a thread");
    check("T0", json!("soon"), "`soon` is no end of a segment");
    check("T0", json!({"before": "look"}), "hint: one of any, read, write");
    check("T0", json!({"before": "read lost_update.c:1"}), "there is `read` on line");
    check("T0", json!({"before": "read other.c:1"}), "there is no `read` in other.c at all");
    check("T0", json!({"before": "read in nobody"}), "there is no place for `read in nobody`");
}
