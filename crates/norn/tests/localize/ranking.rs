//! The true patterns of programs with known bugs.

use norn_e2e::{localize::FlakySubject, schema::report_errors};

use crate::kit::compile;

/// The true pattern is the most suspicious one in almost all programs, and the second in the others.
#[test]
fn true_patterns_rank_first() {
    let subjects = FlakySubject::all();
    let mut first = 0;
    for subject in &subjects {
        let name = &subject.subject.name;
        let report = compile(&subject.subject).localize(&["--no-early-stop", "--top", "50"]);
        let localization = &report["localization"];
        let clusters = localization["clusters"].as_array().unwrap();
        assert_eq!(clusters.len(), 1, "{name}: {localization}");
        let rank = subject.rank(&clusters[0]);
        assert!(rank.is_some_and(|it| it <= 2), "{name}: rank {rank:?} in {localization}");
        first += usize::from(rank == Some(1));
    }
    assert!(subjects.len() >= 14 && first + 2 >= subjects.len(), "{first} of {}", subjects.len());
}

#[test]
fn fixed_programs_do_not_fail() {
    for subject in FlakySubject::all() {
        let report = compile(&subject.twin).localize(&["-n", "30"]);
        let localization = &report["localization"];
        // Where no run fails, predicted schedules are forced, too: they must not fail either.
        let forced = localization["predicted"]["runs"].as_u64().unwrap_or(0);
        let counts = (&localization["passed"], &localization["failed"]);
        assert_eq!(counts, (&(30 + forced).into(), &0.into()), "{}", subject.twin.name);
        assert_eq!(report["exit"]["code"], 0);
        assert_eq!(report_errors(&report), [""; 0]);
    }
}
