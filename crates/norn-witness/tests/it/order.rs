//! Order violations: the example of the paper with its schedules, and a comparison with brute force
//! on random tiny traces.

use insta::assert_snapshot;
use norn_model::{EventId, Op, Trace, text as notation};
use norn_predict::{Options, predict};
use norn_testkit::{FIGURE_3, Oracle};
use norn_witness::{Checker, Grade, Turn, Witnesses, events};
use proptest::prelude::*;

use crate::{
    kit::hunt_order,
    property::{CROSSED, LOCKS, WAITS, cases, text},
};

/// The schedules end where the violation is complete: at 20, after which the paper's continues with
/// 21, and at 14, after which it continues to 27.
#[test]
fn figure_3() {
    assert_snapshot!(hunt_order(FIGURE_3), @r"
    single order overdue-use: 26 20 | sound: 1 2 3 4 6 7 8 9 10 11 5 12 13 14 15 16 17 18 19 22 23 24 25 26 20
    single order premature-use: 29 14 | sound: 1 2 3 4 6 7 8 9 10 11 28 29 30 5 12 13 14
    ");
}

/// The schedules of the paper, as printed, up to the last event of the violation.
#[test]
fn schedules_of_figure_3() {
    let trace = notation::parse(FIGURE_3).unwrap();
    let options = Options { patterns: Vec::new(), ..Options::default() };
    let named: Vec<_> = trace.merged().map(|it| it.id).collect();
    let turn = |number: usize| {
        let EventId { thread, index } = named[number - 1];
        Turn { thread, until: index + 1 }
    };
    let before = |number: usize| (1..number).map(turn).collect::<Vec<_>>();
    let overdue = [before(20), [22, 23, 24, 25, 26, 20].map(turn).to_vec()].concat();
    let premature = [before(13), [28, 29, 30, 13, 14].map(turn).to_vec()].concat();
    let found = predict(&trace, &options).violations;
    let grades = found.iter().zip([overdue, premature]).map(|((candidate, _), turns)| {
        (candidate.kind.name(), Checker::new(&trace).check(candidate, &turns))
    });
    let grades: Vec<_> = grades.collect();
    let sound = Ok(Grade::Sound);
    assert_eq!(grades, [("overdue-use", sound), ("premature-use", sound)]);
}

/// A read and a write of another thread that it saw, or that followed it, in the recorded order.
#[derive(Debug)]
struct Relation {
    read: EventId,
    write: EventId,
    /// Whether the write followed the read.
    next: bool,
}

fn access(op: &Op) -> Option<(u64, bool)> {
    match *op {
        Op::Read { addr, .. } => Some((addr, false)),
        Op::Write { addr, .. } => Some((addr, true)),
        _ => None,
    }
}

/// All relations of a trace: the write that a read saw, if it is another thread's, and every write
/// of another thread after the read.
fn relations(trace: &Trace) -> Vec<Relation> {
    let events: Vec<_> = trace.merged().collect();
    let mut relations = Vec::new();
    for (at, read) in events.iter().enumerate() {
        let Some((addr, false)) = access(&read.op) else { continue };
        let writes = |it: &&norn_model::Event| access(&it.op) == Some((addr, true));
        let foreign = |it: &&norn_model::Event| it.id.thread != read.id.thread;
        let seen = events[..at].iter().rev().find(writes).filter(foreign);
        let next = events[at..].iter().filter(writes).filter(foreign);
        let relation = |next: bool| {
            move |it: &norn_model::Event| Relation { read: read.id, write: it.id, next }
        };
        relations.extend(seen.map(relation(false)));
        relations.extend(next.map(relation(true)));
    }
    relations
}

/// Every violation of some order is predicted. Of the writes of one thread that follow a read, the
/// first represents all; if a later one can precede the read, so can the first. Returns how many
/// violations have no schedule.
fn real_violations_are_predicted(trace: &str) -> Result<usize, TestCaseError> {
    let trace = &notation::parse(trace).unwrap();
    let options = Options { patterns: Vec::new(), instances: usize::MAX, ..Options::default() };
    let found = predict(trace, &options).violations;
    let (oracle, witnesses) = (Oracle::new(trace), Witnesses::new(trace));
    let mut unscheduled = 0;
    for relation in relations(trace) {
        let Relation { read, write, next } = relation;
        let violated = if next { [write, read] } else { [read, write] };
        if !oracle.can_order(&violated, false) {
            continue;
        }
        let mut candidates = found.iter().map(|it| &it.0).filter(|it| {
            let steps: Vec<_> = it.steps.iter().map(|it| it.event).collect();
            match steps[..] {
                [first, last] if next => {
                    last == read && first.thread == write.thread && first.index <= write.index
                }
                [first, last] => [first, last] == violated,
                _ => false,
            }
        });
        let Some(candidate) = candidates.next() else {
            return Err(TestCaseError::fail(format!("{relation:?} is not predicted")));
        };
        unscheduled += usize::from(witnesses.witness(candidate).is_err());
    }
    Ok(unscheduled)
}

/// Every schedule is a possible order of events.
fn schedules_are_possible(trace: &str) -> Result<(), TestCaseError> {
    let trace = &notation::parse(trace).unwrap();
    let options = Options { patterns: Vec::new(), instances: usize::MAX, ..Options::default() };
    let (oracle, witnesses) = (Oracle::new(trace), Witnesses::new(trace));
    for (candidate, _) in predict(trace, &options).violations {
        if let Ok(witness) = witnesses.witness(&candidate) {
            let order: Vec<_> = events(&witness.turns).collect();
            prop_assert!(oracle.allows(&order), "{:?}", witness);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn real_violations_get_a_schedule(trace in text(LOCKS)) {
        prop_assert_eq!(real_violations_are_predicted(&trace)?, 0);
    }

    #[test]
    fn real_violations_get_a_schedule_with_crossed_locks(trace in text(CROSSED)) {
        prop_assert_eq!(real_violations_are_predicted(&trace)?, 0);
    }

    #[test]
    fn real_violations_get_a_schedule_with_waits(trace in text(WAITS)) {
        prop_assert_eq!(real_violations_are_predicted(&trace)?, 0);
    }

    #[test]
    fn schedules_are_possible_with_crossed_locks(trace in text(CROSSED)) {
        schedules_are_possible(&trace)?;
    }

    #[test]
    fn schedules_are_possible_with_waits(trace in text(WAITS)) {
        schedules_are_possible(&trace)?;
    }
}

/// A program that moves a struct reads at once what it wrote field by field. That no value is known
/// then does not make a schedule speculative, and the thread that sets `x` has checked it before.
#[test]
fn a_struct_that_is_moved_counts_as_the_same() {
    let trace = "T0 fork T1\nT0 fork T2\n\
                 T1 w s:8 1 @ first\nT1 w s+8:8 2 @ second\nT1 r s:32 @ move\n\
                 T1 load x 0 @ check\nT1 store x 1 @ set\nT2 load x 1 @ late\nT2 r y 0";
    assert_snapshot!(hunt_order(trace), @"single order overdue-use: late set | sound: T0:0 T0:1 first second move check late set");
}
