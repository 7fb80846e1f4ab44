//! Deadlocks on random tiny traces, compared with brute force over all orders.

use std::cell::Cell;

use norn_model::{BugClass, EventId, text};
use norn_predict::predict;
use norn_testkit::{Oracle, Shape};
use norn_witness::{Witnesses, events};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::property::{CROSSED, LOCKS, WAITS, all, cases, text as traces};

const DEEP: Shape = Shape { nests: 12, ..LOCKS };
const THREE: Shape = Shape { threads: 3, pieces: 2, events: 20, ..DEEP };
const DEEP_CROSSED: Shape = Shape { nests: 12, ..CROSSED };
const DEEP_WAITS: Shape = Shape { nests: 12, ..WAITS };

/// Checks that every witness of a deadlock ends where its threads can never continue; returns their
/// number.
fn witnesses_are_stuck(trace: &str) -> Result<usize, TestCaseError> {
    let trace = &text::parse(trace).unwrap();
    let (oracle, witnesses) = (Oracle::new(trace), Witnesses::new(trace));
    let found = predict(trace, &all(|it| it == BugClass::Deadlock)).candidates;
    let witnesses: Vec<_> = found.iter().filter_map(|it| witnesses.witness(it).ok()).collect();
    for witness in &witnesses {
        let order: Vec<_> = events(&witness.turns).collect();
        let stuck: Vec<_> = witness.candidate.stuck.iter().map(|it| it.event).collect();
        prop_assert!(oracle.is_stuck(&order, &stuck), "{:?}", witness);
    }
    Ok(witnesses.len())
}

/// Runs a property on many traces, and sums up its counts.
fn total<const N: usize>(
    shape: Shape,
    count: impl Fn(&str) -> Result<[usize; N], TestCaseError>,
) -> [usize; N] {
    let sum = Cell::new([0; N]);
    let mut runner = TestRunner::new(cases().clone_with_source_file(file!()));
    let result = runner.run(&traces(shape), |trace| {
        let counted = count(&trace)?;
        let mut all = sum.get();
        all.iter_mut().zip(counted).for_each(|(all, one)| *all += one);
        sum.set(all);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    sum.get()
}

/// Checks that every lock deadlock of some order is predicted; returns their number, and how many
/// have no schedule.
fn cycles_are_predicted(trace: &str) -> Result<[usize; 2], TestCaseError> {
    let trace = text::parse(trace).unwrap();
    let (oracle, witnesses) = (Oracle::new(&trace), Witnesses::new(&trace));
    let found = predict(&trace, &all(|it| it == BugClass::Deadlock)).candidates;
    let mut counts = [0, 0];
    for cycle in oracle.lock_cycles() {
        let within = |it: &EventId| cycle.contains(it);
        let mut same = found.iter().filter(|it| it.stuck.iter().all(|it| within(&it.event)));
        let Some(first) = same.next() else {
            return Err(TestCaseError::fail(format!("{cycle:?} is not predicted")));
        };
        let scheduled = std::iter::once(first).chain(same).any(|it| witnesses.witness(it).is_ok());
        counts = [counts[0] + 1, counts[1] + usize::from(!scheduled)];
    }
    Ok(counts)
}

/// Every lock deadlock of some order is predicted and gets a schedule.
fn check_cycles(shape: Shape) {
    let [real, unscheduled] = total(shape, cycles_are_predicted);
    assert_ne!(real, 0);
    assert_eq!(unscheduled, 0, "of {real}");
}

#[test]
fn deadlocks_of_locks_are_predicted() {
    check_cycles(DEEP);
}

#[test]
fn deadlocks_of_three_threads_are_predicted() {
    check_cycles(THREE);
}

#[test]
fn deadlocks_of_crossed_locks_are_predicted() {
    check_cycles(DEEP_CROSSED);
}

/// Every witness is stuck, and there is at least one.
fn check_witnesses(shapes: &[Shape]) {
    let count = |shape: &Shape| total(*shape, |it| Ok([witnesses_are_stuck(it)?]))[0];
    assert_ne!(shapes.iter().map(count).sum::<usize>(), 0);
}

#[test]
fn witnesses_are_stuck_with_locks() {
    check_witnesses(&[DEEP, DEEP_CROSSED, THREE]);
}

#[test]
fn witnesses_are_stuck_with_waits() {
    check_witnesses(&[WAITS, DEEP_WAITS]);
}
