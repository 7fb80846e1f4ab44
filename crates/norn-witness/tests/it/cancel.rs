//! A request to end: nothing is decided any more, and nothing is claimed.

use norn_checker::{Checker, Rule};
use norn_model::Cancel;
use norn_predict::{Options, predict};
use norn_testkit::long;
use norn_witness::{Engines, Failure, WitnessOptions, Witnesses};

#[test]
fn nothing_is_claimed_after_a_request_to_end() {
    let trace = long(8, 20_000);
    let candidates = predict(&trace, &Options::default()).candidates;
    assert!(!candidates.is_empty());
    for engines in [Engines::Hybrid, Engines::Exact, Engines::Both] {
        let cancel = Cancel::default();
        let options = WitnessOptions { engines, cancel: cancel.clone(), segment: Some(2_000) };
        let early = Witnesses::with(&trace, options.clone());
        cancel.cancel();
        let late = Witnesses::with(&trace, options);
        for candidate in &candidates {
            assert_eq!(early.witness(candidate), Err(Failure::Inconclusive));
            assert_eq!(late.witness(candidate), Err(Failure::Inconclusive));
        }
    }
}

#[test]
fn a_cancelled_check_accepts_nothing() {
    let trace = long(8, 20_000);
    let candidates = predict(&trace, &Options::default()).candidates;
    let witness = candidates.iter().find_map(|it| Witnesses::new(&trace).witness(it).ok());
    let witness = witness.expect("a candidate with a schedule");
    let cancel = Cancel::default();
    let checker = Checker::cancellable(&trace, &cancel);
    assert_eq!(checker.check(&witness.candidate, &witness.turns), Ok(witness.grade));
    cancel.cancel();
    let refusal = checker.check(&witness.candidate, &witness.turns);
    assert_eq!(refusal.map_err(|it| it.rule), Err(Rule::Cancelled));
}
