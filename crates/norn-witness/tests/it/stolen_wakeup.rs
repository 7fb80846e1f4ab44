//! Stolen wake-ups: the smallest trace that has one, and what takes it away.

use insta::assert_snapshot;
use norn_model::BugClass;

use crate::kit::hunt_class;

/// T1 waits until T2 has put something there; T3 takes it.
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
fn another_thread_is_faster() {
    assert_snapshot!(stolen(TRACE), @"single atomicity stolen-wake-up: tells takes looks | sound: T1:0 asks T1:2 T1:3 T2:0 tells T2:2 T2:3 T3:0 takes T3:2 T1:4 looks");
}

#[test]
fn also_if_it_came_first() {
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

/// Two signals came while it waited, and it is not known which one ended the wait.
#[test]
fn also_if_it_is_not_known_who_woke_it() {
    let trace = TRACE.replace("by T2:2", "any 2").replace(
        "T2 rel m\n",
        "T2 rel m\n    T2 acq m\n    T2 w x 2 @ tells\n    T2 signal c\n    T2 rel m\n",
    );
    assert_snapshot!(stolen(&trace), @"single atomicity stolen-wake-up: tells takes looks | sound: T1:0 asks T1:2 T1:3 T2:0 tells T2:2 T2:3 T3:0 takes T3:2 T1:4 looks");
}

#[test]
fn who_looks_again_where_it_asked_is_not_fooled() {
    assert_eq!(stolen(&TRACE.replace("looks", "asks")), "");
}

#[test]
fn who_is_not_woken_is_not_fooled() {
    assert_eq!(stolen(&TRACE.replace("by T2:2", "timeout")), "");
}

#[test]
fn it_takes_a_third_thread() {
    assert_eq!(stolen(&TRACE.replace("T3", "T2")), "");
}

#[test]
fn another_lock_is_another_matter() {
    let trace = TRACE.replace("T3 acq m", "T3 acq n").replace("T3 rel m", "T3 rel n");
    assert_eq!(stolen(&trace), "");
}

#[test]
fn who_comes_after_the_look_takes_nothing() {
    let trace = TRACE.replace("T3 acq m", "T1 fork T3\n    T3 acq m");
    assert_eq!(stolen(&trace), "");
}
