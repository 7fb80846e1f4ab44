//! Timeouts: the smallest traces in which they can happen, and what prevents them.

use insta::assert_snapshot;
use norn_model::{BugClass, CandidateKind, text};
use norn_predict::{Options, predict};
use norn_witness::{Checker, Grade, Rule, Turn};

use crate::kit::hunt;

/// T1 waits until T2 has produced an item.
const WAIT: &str = "
    T1 acq m
    T1 waitrel m
    T1 wait c m timed
    T2 acq m
    T2 w x 1
    T2 signal c @ signal
    T2 rel m
    T1 wake c m by T2:2 @ wake
    T1 r x 1
    T1 rel m
";

fn expiring(trace: &str) -> String {
    let options = Options::default().only(&[BugClass::Order]);
    hunt(trace, &options)
}

#[test]
fn a_wait_times_out_before_the_section_or_with_the_signal() {
    assert_snapshot!(expiring(WAIT), @r"
    single order timeout: wake T2:0 | speculative: T1:0 T1:1 T1:2 wake T1:4 T1:5 T2:0
    single order late-wake-up: signal wake | sound: T1:0 T1:1 T1:2 T2:0 T2:1 signal T2:3 wake
    ");
}

#[test]
fn an_untimed_wait_does_not_time_out() {
    assert_eq!(expiring(&WAIT.replace(" timed", "")), "");
}

#[test]
fn a_semaphore_wait_times_out_before_the_post() {
    let trace = "T0 init s semaphore 0\nT2 yield\nT2 post s @ post\nT1 down s timed @ down";
    assert_snapshot!(expiring(trace), @r"
    single order timeout: down post | sound: T0:0 T2:0 down post
    single order late-wake-up: post down | sound: T0:0 T2:0 post down
    ");
}

#[test]
fn a_lock_request_times_out_while_the_lock_is_held() {
    let trace = "T1 acq m @ taken\nT1 w x 1\nT1 rel m\nT2 acq m mutex timed @ wanted\nT2 rel m";
    assert_snapshot!(expiring(trace), @"single order timeout: taken wanted | sound: taken wanted");
}

/// The checker lets a wait end without a signal only if it has a time limit.
#[test]
fn the_checker_requires_a_time_limit() {
    let check = |trace: &str| {
        let trace = text::parse(trace).unwrap();
        let options = Options::default().only(&[BugClass::Order]);
        let candidates = predict(&text::parse(WAIT).unwrap(), &options).candidates;
        let early = candidates.iter().find(|it| it.kind == CandidateKind::Timeout).unwrap();
        let [wake, signal] = [0, 1].map(|it| early.steps[it].event);
        // T1 runs to its end, so that other threads can acquire the mutex.
        let turns = [(wake, 3), (signal, 1)];
        let turns = turns.map(|(at, more)| Turn { thread: at.thread, until: at.index + more });
        Checker::new(&trace).check(early, &turns).map_err(|it| it.rule)
    };
    assert_eq!(check(WAIT), Ok(Grade::Speculative));
    assert_eq!(check(&WAIT.replace(" timed", "")), Err(Rule::NotWoken));
}
