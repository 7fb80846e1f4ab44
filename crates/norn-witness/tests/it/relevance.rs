//! The events that are loaded of a long run are enough for prediction; and of the instances of a
//! candidate those come first that the recorded run leaves unordered.

use std::collections::BTreeSet;

use norn_model::{
    BugClass, Candidate, Event, Op, Trace,
    memory_model::{Edges, HappensBefore},
};
use norn_predict::{Options, Relevance, predict};
use proptest::prelude::*;

use crate::property::{CHANNELS, CROSSED, LOCKS, WAITS, all, cases, text};

/// The relevant events of a trace, numbered without gaps.
fn relevant(trace: &Trace) -> Trace {
    let mut skeleton = trace.clone();
    skeleton.threads.iter_mut().for_each(|it| it.events.retain(Relevance::is_skeleton));
    renumber(&mut skeleton);
    let mut relevance = Relevance::new(&skeleton, trace.len() as u64);
    let mut passed = vec![0; trace.threads.len()];
    for event in trace.merged() {
        let thread = trace.threads.iter().position(|it| it.id == event.id.thread).unwrap();
        relevance.step(thread, passed[thread], &event);
        passed[thread] += usize::from(Relevance::is_skeleton(&event));
    }
    relevance.finish();
    let mut kept = trace.clone();
    for (number, thread) in kept.threads.iter_mut().enumerate() {
        let mut passed = 0;
        thread.events.retain(|event| {
            let is_skeleton = Relevance::is_skeleton(event);
            passed += u64::from(is_skeleton);
            is_skeleton || relevance.is_relevant(number, event, || passed)
        });
    }
    renumber(&mut kept);
    kept
}

fn renumber(trace: &mut Trace) {
    for thread in &mut trace.threads {
        for (event, index) in thread.events.iter_mut().zip(0..) {
            event.id.index = index;
        }
    }
}

/// The findings of a prediction, without atomic sets.
fn findings(trace: &Trace) -> BTreeSet<String> {
    let prediction = predict(trace, &all(|it| it != BugClass::AtomicSet));
    let violations = prediction.violations.into_iter().map(|it| it.0);
    let all = prediction.candidates.into_iter().chain(violations);
    let finding = |it: Candidate| {
        let sites: Vec<_> = it.steps.iter().chain(&it.stuck).map(|it| it.site.0).collect();
        format!("{:?} {sites:?}", it.kind)
    };
    all.map(finding).collect()
}

/// The trace of a program whose variables are arrays: each plain access becomes a loop over the elements.
fn widened(trace: &Trace) -> Trace {
    const ELEMENTS: u64 = 5;
    const DISTANCE: u64 = 1 << 20;
    let mut wide = trace.clone();
    for thread in &mut wide.threads {
        let elements = |event: &Event| {
            let last = if Relevance::is_skeleton(event) { 1 } else { ELEMENTS };
            let event = *event;
            (0..last).map(move |it| {
                let (mut copy, offset) = (event, it * DISTANCE);
                if let Op::Read { addr, .. } | Op::Write { addr, .. } = &mut copy.op {
                    *addr += offset;
                }
                copy.seq = copy.seq.map(|seq| seq * ELEMENTS + it);
                copy
            })
        };
        thread.events = thread.events.iter().flat_map(elements).collect();
    }
    renumber(&mut wide);
    wide
}

fn relevant_events_are_enough(trace: &str) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(trace).unwrap();
    prop_assert_eq!(findings(&relevant(&trace)), findings(&trace));
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn relevant_events_are_enough_with_locks(trace in text(LOCKS)) {
        relevant_events_are_enough(&trace)?;
    }

    #[test]
    fn relevant_events_are_enough_with_channels(trace in text(CHANNELS)) {
        relevant_events_are_enough(&trace)?;
    }

    #[test]
    fn of_elements_with_the_same_history_some_are_enough(trace in text(LOCKS)) {
        let trace = widened(&norn_model::text::parse(&trace).unwrap());
        let relevant = relevant(&trace);
        prop_assert_eq!(findings(&relevant), findings(&trace));
        let skeleton = trace.merged().filter(Relevance::is_skeleton).count();
        let [all, kept] = [&trace, &relevant].map(|it| it.len() - skeleton);
        prop_assert!(kept <= all / 5 * 2, "{} of {}", kept, all);
    }

    /// If the recorded run leaves any instance of a race unordered, then the first one.
    #[test]
    fn unordered_instances_come_first(trace in prop_oneof![text(LOCKS), text(CROSSED), text(WAITS)]) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let order = HappensBefore::new(&trace, Edges::CXX20);
        let is_unordered = |it: &Candidate| {
            let [one, other] = [0, 1].map(|at| it.steps[at].event);
            !order.is_before(one, other) && !order.is_before(other, one)
        };
        let options = |instances| Options { instances, ..all(|it| it == BugClass::Race) };
        let found = predict(&trace, &options(usize::MAX)).candidates;
        let first = predict(&trace, &options(1)).candidates;
        let same = |a: &Candidate, b: &Candidate| a.kind == b.kind && a.sites().eq(b.sites());
        for it in found.iter().filter(|it| is_unordered(it)) {
            let chosen = first.iter().filter(|candidate| same(candidate, it));
            prop_assert!(chosen.into_iter().any(is_unordered), "{:?}", it);
        }
    }
}

#[test]
fn the_instance_that_no_lock_separates_comes_first() {
    let section = |thread: &str| format!("{thread} acq m\n{thread} w y\n{thread} rel m\n");
    let access = |thread: &str| format!("{thread} w x @ {thread}\n");
    // The first accesses are ordered by the lock, the last ones are not.
    let trace = [access("T1"), section("T1"), section("T2"), access("T2"), access("T1")].concat();
    let trace = norn_model::text::parse(&format!("order global\n{trace}")).unwrap();
    let options = Options { instances: 1, ..all(|it| it == BugClass::Race) };
    let found = predict(&trace, &options).candidates;
    let events: BTreeSet<_> = found
        .iter()
        .map(|it| {
            let mut events: Vec<_> = it.steps.iter().map(|it| it.event.to_string()).collect();
            events.sort();
            events.join(" ")
        })
        .collect();
    assert_eq!(events.into_iter().collect::<Vec<_>>(), ["t0:4 t1:3"]);
}
