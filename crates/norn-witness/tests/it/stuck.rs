//! Deadlocks on random tiny traces, against all orders that their events can have.

use std::cell::Cell;

use norn_model::{Anomaly, EventId, text};
use norn_predict::predict;
use norn_testkit::{Oracle, Shape};
use norn_witness::{Witnesses, events};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::property::{CROSSED, LOCKS, WAITS, all, cases, text as traces};

const DEEP: Shape = Shape { deep: true, ..LOCKS };
const THREE: Shape = Shape { threads: 3, pieces: 2, events: 20, ..DEEP };
const DEEP_CROSSED: Shape = Shape { deep: true, ..CROSSED };
const DEEP_WAITS: Shape = Shape { deep: true, ..WAITS };

/// Whether every witness of a deadlock ends where its threads can never go on; how many there are.
fn witnesses_are_stuck(trace: &str) -> Result<usize, TestCaseError> {
    let trace = &text::parse(trace).unwrap();
    let (oracle, witnesses) = (Oracle::new(trace), Witnesses::new(trace));
    let found = predict(trace, &all(|it| it == Anomaly::Deadlock)).candidates;
    let witnesses: Vec<_> = found.iter().filter_map(|it| witnesses.witness(it).ok()).collect();
    for witness in &witnesses {
        let order: Vec<_> = events(&witness.turns).collect();
        let stuck: Vec<_> = witness.candidate.stuck.iter().map(|it| it.event).collect();
        prop_assert!(oracle.is_stuck(&order, &stuck), "{:?}", witness);
    }
    Ok(witnesses.len())
}

/// Runs a property on many traces, and adds up what it counts.
fn total<const N: usize>(
    shape: Shape,
    count: impl Fn(&str) -> Result<[usize; N], TestCaseError>,
) -> [usize; N] {
    let sum = Cell::new([0; N]);
    let mut runner = TestRunner::new(cases());
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

/// Every deadlock of locks that some order reaches is predicted; how many there are, and how many of
/// them get no schedule.
fn cycles_are_predicted(trace: &str) -> Result<[usize; 2], TestCaseError> {
    let trace = text::parse(trace).unwrap();
    let (oracle, witnesses) = (Oracle::new(&trace), Witnesses::new(&trace));
    let found = predict(&trace, &all(|it| it == Anomaly::Deadlock)).candidates;
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

#[test]
fn deadlocks_of_locks_are_predicted() {
    let [real, unscheduled] = total(DEEP, cycles_are_predicted);
    println!("{real} {unscheduled}");
    assert!(real > 0);
    assert_eq!(unscheduled, 0);
}

#[test]
fn deadlocks_of_three_threads_are_predicted() {
    let [real, unscheduled] = total(THREE, cycles_are_predicted);
    println!("{real} {unscheduled}");
    assert!(real > 0);
    assert_eq!(unscheduled, 0);
}

#[test]
fn deadlocks_of_crossed_locks_are_predicted() {
    let [real, unscheduled] = total(DEEP_CROSSED, cycles_are_predicted);
    println!("{real} {unscheduled}");
    assert!(real > 0);
    assert_eq!(unscheduled, 0);
}

#[test]
fn witnesses_are_stuck_with_locks() {
    for shape in [DEEP, DEEP_CROSSED, THREE] {
        let [witnesses] = total(shape, |it| Ok([witnesses_are_stuck(it)?]));
        println!("{witnesses}");
        assert!(witnesses > 0);
    }
}

#[test]
fn witnesses_are_stuck_with_waits() {
    for shape in [WAITS, DEEP_WAITS] {
        let [witnesses] = total(shape, |it| Ok([witnesses_are_stuck(it)?]));
        println!("{witnesses}");
        assert!(witnesses > 0);
    }
}
