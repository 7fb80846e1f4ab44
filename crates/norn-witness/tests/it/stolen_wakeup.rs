//! Stolen wake-ups: the smallest trace that permits one, and what prevents it.

use insta::assert_snapshot;
use norn_model::BugClass;

use crate::kit::hunt_class;

/// T1 waits until T2 has produced an item; T3 consumes it.
const TRACE: &str = "
    T1 acq m
    T1 r x 0 @ asks
    T1 waitrel m
    T1 wait c m
    T2 acq m
    T2 w x 1 @ tells
    T2 signal c
    T2 rel m
    T1 wake c m by T2:2
    T1 r x 1 @ looks
    T1 rel m
    T3 acq m
    T3 w x 0 @ takes
    T3 rel m
";

fn stolen(trace: &str) -> String {
    let all = hunt_class(trace, BugClass::Atomicity);
    let stolen = all.lines().filter(|it| it.contains("stolen-wake-up"));
    stolen.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_third_thread_steals_the_wake_up() {
    assert_snapshot!(stolen(TRACE), @"single atomicity stolen-wake-up: tells takes looks | sound: T1:0 asks T1:2 T1:3 T2:0 tells T2:2 T2:3 T3:0 takes T3:2 T1:4 looks");
}

#[test]
fn stolen_if_the_third_thread_came_first() {
    let trace = "
        T1 acq m
        T1 waitrel m
        T1 wait c m
        T3 acq m
        T3 w x 0 @ takes
        T3 rel m
        T2 acq m
        T2 w x 1 @ tells
        T2 rel m
        T2 signal c
        T1 wake c m by T2:3
        T1 r x 1 @ looks
        T1 rel m
    ";
    assert_snapshot!(stolen(trace), @"single atomicity stolen-wake-up: tells takes looks | sound: T1:0 T1:1 T1:2 T2:0 tells T2:2 T2:3 T3:0 takes T3:2 T1:3 looks");
}

/// There were two signals during the wait, and it is unknown which one ended it.
#[test]
fn stolen_if_the_signal_is_unknown() {
    let trace = TRACE.replace("by T2:2", "any 2").replace(
        "T2 rel m\n",
        "T2 rel m\n    T2 acq m\n    T2 w x 2 @ tells\n    T2 signal c\n    T2 rel m\n",
    );
    assert_snapshot!(stolen(&trace), @"single atomicity stolen-wake-up: tells takes looks | sound: T1:0 asks T1:2 T1:3 T2:0 tells T2:2 T2:3 T3:0 takes T3:2 T1:4 looks");
}

#[test]
fn not_stolen_if_the_condition_is_checked_again() {
    assert_eq!(stolen(&TRACE.replace("looks", "asks")), "");
}

#[test]
fn not_stolen_without_a_signal() {
    assert_eq!(stolen(&TRACE.replace("by T2:2", "timeout")), "");
}

#[test]
fn not_stolen_without_a_third_thread() {
    assert_eq!(stolen(&TRACE.replace("T3", "T2")), "");
}

#[test]
fn not_stolen_under_another_lock() {
    let trace = TRACE.replace("T3 acq m", "T3 acq n").replace("T3 rel m", "T3 rel n");
    assert_eq!(stolen(&trace), "");
}

#[test]
fn not_stolen_after_the_read() {
    let trace = TRACE.replace("T3 acq m", "T1 fork T3\n    T3 acq m");
    assert_eq!(stolen(&trace), "");
}
