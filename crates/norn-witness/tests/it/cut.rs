//! Schedules that begin with the recorded order up to a cut: the result of the checker is the same as
//! if it followed them from the begin of the program, and they are possible.

use norn_checker::Checker;
use norn_model::{Candidate, ThreadId, Trace};
use norn_predict::predict;
use norn_testkit::{Oracle, Shape};
use norn_witness::{Engine, Engines, Hybrid, Turn, WitnessOptions, Witnesses, events};
use proptest::prelude::*;

use crate::property::{CHANNELS, CROSSED, HANDLERS, LOCKS, WAITS, all, cases, text};

const FREES: Shape = Shape { frees: true, ..LOCKS };
const OBJECTS: Shape = Shape { objects: true, ..LOCKS };
const DEADLOCKS: Shape = Shape { nests: 12, ..LOCKS };
const WEAK: Shape = Shape { weak: true, ..LOCKS };
const RICH: Shape = Shape { rich: true, waits: true, ..LOCKS };

fn candidates(trace: &Trace) -> Vec<Candidate> {
    let found = predict(trace, &all(|_| true));
    let orders = found.violations.into_iter().map(|it| it.0);
    found.candidates.into_iter().chain(orders).collect()
}

/// The recorded order, and a cut after each of its turns.
fn recorded(trace: &Trace) -> (Vec<Turn>, Vec<usize>) {
    let mut turns: Vec<Turn> = Vec::new();
    for event in trace.merged() {
        turns.push(Turn { thread: event.id.thread, until: event.id.index + 1 });
    }
    let cuts = (1..=turns.len()).collect();
    (turns, cuts)
}

/// What a schedule has after a point, given by the turns before it.
fn rest(before: &[Turn], turns: &[Turn]) -> Vec<Turn> {
    let position = |thread: ThreadId| {
        before.iter().filter(|it| it.thread == thread).map(|it| it.until).max().unwrap_or(0)
    };
    turns.iter().copied().filter(|it| it.until > position(it.thread)).collect()
}

/// From each cut, the checker comes to the same result as from the begin, be it a grade or a refusal.
fn checks_agree(trace: &str) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(trace).unwrap();
    let (order, cuts) = recorded(&trace);
    let plain = Checker::new(&trace);
    let checker = Checker::new(&trace).with_baseline(order.clone(), cuts);
    let hybrid = Hybrid::new(&trace);
    for candidate in candidates(&trace) {
        for turns in hybrid.schedules(&candidate).flatten().take(4) {
            for cut in 0..=checker.last_cut() {
                let rest = rest(&order[..cut], &turns);
                let expected = plain.deviation(&candidate, &checker.schedule(cut, &rest));
                let result = checker.deviation_from(cut, &candidate, &rest, None);
                prop_assert_eq!(result, expected, "{:?} after {}: {:?}", candidate, cut, rest);
            }
        }
    }
    Ok(())
}

/// Witnesses that begin at cuts are possible orders, and have the grade that a check from the begin
/// gives them.
fn witnesses_are_possible(trace: &str) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(trace).unwrap();
    let (oracle, checker) = (Oracle::new(&trace), Checker::new(&trace));
    for engines in [Engines::Hybrid, Engines::Both] {
        for segment in [1, 3] {
            let options =
                WitnessOptions { engines, segment: Some(segment), ..WitnessOptions::default() };
            let witnesses = Witnesses::with(&trace, options);
            for candidate in candidates(&trace) {
                let Ok(witness) = witnesses.witness(&candidate) else { continue };
                let order: Vec<_> = events(&witness.turns).collect();
                prop_assert!(oracle.allows(&order), "{:?}", witness);
                let grade = checker.check(&witness.candidate, &witness.turns);
                prop_assert_eq!(grade, Ok(witness.grade), "{:?}", witness);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn checks_agree_with_locks(trace in text(CROSSED)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_with_waits(trace in text(RICH)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_with_freed_memory(trace in text(FREES)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_with_objects(trace in text(OBJECTS)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_with_channels(trace in text(CHANNELS)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_with_handlers(trace in text(HANDLERS)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_on_deadlocks(trace in text(DEADLOCKS)) { checks_agree(&trace)?; }

    #[test]
    fn checks_agree_on_weak_atomics(trace in text(WEAK)) { checks_agree(&trace)?; }

    #[test]
    fn witnesses_are_possible_with_locks(trace in text(CROSSED)) { witnesses_are_possible(&trace)?; }

    #[test]
    fn witnesses_are_possible_with_waits(trace in text(WAITS)) { witnesses_are_possible(&trace)?; }

    #[test]
    fn witnesses_are_possible_with_channels(trace in text(CHANNELS)) { witnesses_are_possible(&trace)?; }

    #[test]
    fn witnesses_are_possible_with_handlers(trace in text(HANDLERS)) { witnesses_are_possible(&trace)?; }

    #[test]
    fn witnesses_are_possible_with_freed_memory(trace in text(FREES)) { witnesses_are_possible(&trace)?; }

    #[test]
    fn witnesses_are_possible_into_deadlocks(trace in text(DEADLOCKS)) { witnesses_are_possible(&trace)?; }
}
