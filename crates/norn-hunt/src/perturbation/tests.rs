//! Perturbations of small traces, written as the places at which threads are held.

use norn_model::{CandidateKind, text};
use norn_predict::{Options, predict};
use norn_witness::{Grade, Witnesses};

use super::*;

/// T1 empties and fills an index, and announces it; T2 asks for that, and uses the index.
const INDEX: &str = "
    T1 acq l @ t1-lock1
    T1 w rows 0 @ empties
    T1 rel l @ t1-unlock1
    T1 acq l @ t1-lock2
    T1 w rows 12 @ fills
    T1 rel l @ t1-unlock2
    T1 acq m
    T1 w done 1 @ announces
    T1 rel m
    T2 acq m
    T2 r done 1 @ asks
    T2 rel m @ t2-asked
    T2 acq l @ t2-lock
    T2 r rows 12 @ uses
    T2 rel l @ t2-unlock
";

/// The order violations of a trace with this kind and first access.
fn candidate(trace: &Trace, kind: &CandidateKind, place: &str) -> Candidate {
    let violations = predict(trace, &Options::default()).violations;
    let mut all = violations.into_iter().map(|it| it.0);
    let is_wanted = |it: &Candidate| it.kind == *kind && name(trace, it.steps[0].event) == place;
    all.find(is_wanted).unwrap()
}

/// The place of an event.
fn name(trace: &Trace, event: EventId) -> String {
    let site = trace.event(event).and_then(|it| trace.site(it.site));
    site.and_then(|it| it.place.clone()).unwrap_or_else(|| "end".to_owned())
}

/// Where threads are held, one after the other.
fn held(trace: &Trace, perturbation: &Perturbation) -> Vec<String> {
    let show = |it: &Stop| match *it {
        Stop::At(thread, index) => {
            format!("at {}", name(trace, EventId { thread, index }))
        }
        Stop::Before(event, from) => format!("before {} from {from}", name(trace, event)),
        Stop::After(event, from) => format!("after {} from {from}", name(trace, event)),
    };
    perturbation.stops.iter().map(show).collect()
}

/// The second thread sees another flag on its way. From there on it is led to its read by place, while the
/// first one stays before the critical section of its write.
#[test]
fn a_thread_that_sees_something_else_is_led_by_place() {
    let trace = text::parse(INDEX).unwrap();
    let candidate = candidate(&trace, &CandidateKind::OverdueUse, "uses");
    let witness = Witnesses::new(&trace).witness(&candidate).unwrap();
    assert_eq!(witness.grade, Grade::Speculative);
    let found = Perturbation::of_schedule(&trace, &witness).unwrap();
    assert_eq!(
        held(&trace, &found),
        ["at t1-lock2", "at t2-asked", "before uses from 2", "after uses from 4"]
    );
}

/// Without a schedule, the recorded order is repeated up to the first critical section of the two, and the thread
/// is held before it.
#[test]
fn without_a_schedule_a_thread_is_held_before_its_critical_section() {
    let trace = text::parse(INDEX).unwrap();
    let candidate = candidate(&trace, &CandidateKind::OverdueUse, "uses");
    let found = Perturbation::of_recorded_order(&trace, &candidate).unwrap();
    assert_eq!(held(&trace, &found), ["at t1-lock2", "before uses from 0", "after uses from 4"]);
}

/// A read that is to see a later write: its thread is held until that has happened.
#[test]
fn a_reader_is_held_until_the_write_has_happened() {
    let trace = text::parse(
        "T1 r x 0 @ reads\nT1 w y 1 @ other\nT2 acq l @ lock\nT2 w x 1 @ writes\nT2 rel l @ unlock",
    )
    .unwrap();
    let candidate = candidate(&trace, &CandidateKind::PrematureUse, "writes");
    let found = Perturbation::of_recorded_order(&trace, &candidate).unwrap();
    assert_eq!(
        held(&trace, &found),
        ["after writes from 0", "after unlock from 2", "before reads from 0", "after reads from 0"]
    );
}

/// A thread is to read what it has written itself: only that thread runs until it has.
#[test]
fn a_thread_that_reads_its_own_write_runs_alone() {
    let trace = text::parse("T1 store x 1 @ own\nT2 store x 2 @ other\nT2 store f 1 @ sets\nT1 load f 1 @ asks\nT1 load x 2 @ reads").unwrap();
    let candidate = candidate(&trace, &CandidateKind::OverdueUse, "reads");
    let witness = Witnesses::new(&trace).witness(&candidate).unwrap();
    let found = Perturbation::of_schedule(&trace, &witness).unwrap();
    assert_eq!(held(&trace, &found), ["at reads", "before reads from 2", "after reads from 2"]);
}

/// Nobody sees anything else before its access: there is no other path, and nothing to perturb.
#[test]
fn a_schedule_that_keeps_what_threads_see_is_not_perturbed() {
    let trace = text::parse("T1 w x 1 @ writes\nT2 r x 1 @ reads").unwrap();
    let candidate = candidate(&trace, &CandidateKind::OverdueUse, "reads");
    let witness = Witnesses::new(&trace).witness(&candidate).unwrap();
    assert_eq!(Perturbation::of_schedule(&trace, &witness), None);
}
