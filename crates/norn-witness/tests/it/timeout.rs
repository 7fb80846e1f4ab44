//! Times that run out: the smallest traces in which they can, and what takes that away.

use insta::assert_snapshot;
use norn_model::{BugClass, CandidateKind, text};
use norn_predict::{Options, predict};
use norn_witness::{Checker, Grade, Rule, Turn};

use crate::kit::hunt;

/// T1 waits until T2 has put something there.
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
fn before_the_signal_or_with_it() {
    assert_snapshot!(expiring(WAIT), @r"
    single order timeout: wake signal | speculative: T1:0 T1:1 T1:2 wake T1:4 T1:5 T2:0 T2:1 signal
    single order late-wake-up: signal wake | sound: T1:0 T1:1 T1:2 T2:0 T2:1 signal T2:3 wake
    ");
}

#[test]
fn who_waits_for_ever_is_woken() {
    assert_eq!(expiring(&WAIT.replace(" timed", "")), "");
}

#[test]
fn before_the_post() {
    let trace = "T0 init s semaphore 0\nT2 yield\nT2 post s @ post\nT1 down s timed @ down";
    assert_snapshot!(expiring(trace), @r"
    single order timeout: down post | sound: T0:0 T2:0 down post
    single order late-wake-up: post down | sound: T0:0 T2:0 post down
    ");
}

#[test]
fn while_another_thread_has_the_lock() {
    let trace = "T1 acq m @ taken\nT1 w x 1\nT1 rel m\nT2 acq m mutex timed @ wanted\nT2 rel m";
    assert_snapshot!(expiring(trace), @"single order timeout: taken wanted | sound: taken wanted");
}

/// The checker lets a wait end by itself if it has a limit, and only then.
#[test]
fn the_checker_knows_limits() {
    let check = |trace: &str| {
        let trace = text::parse(trace).unwrap();
        let options = Options::default().only(&[BugClass::Order]);
        let candidates = predict(&text::parse(WAIT).unwrap(), &options).candidates;
        let early = candidates.iter().find(|it| it.kind == CandidateKind::Timeout).unwrap();
        let [wake, signal] = [0, 1].map(|it| early.steps[it].event);
        // T1 goes on to its end, so that others have the mutex.
        let turns = [(wake, 3), (signal, 1)];
        let turns = turns.map(|(at, more)| Turn { thread: at.thread, until: at.index + more });
        Checker::new(&trace).check(early, &turns).map_err(|it| it.rule)
    };
    assert_eq!(check(WAIT), Ok(Grade::Speculative));
    assert_eq!(check(&WAIT.replace(" timed", "")), Err(Rule::NotWoken));
}
