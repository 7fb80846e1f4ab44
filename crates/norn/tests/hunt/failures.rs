//! Hunts from visible failures: which reads decide them, what these reads see, and in which order
//! candidates are tried.

use serde_json::Value;

use crate::kit::{Hunt, norn_hunt, subjects};

/// Hunts in a subject.
fn hunt(name: &str, options: &[&str]) -> Hunt {
    let folder = tempfile::tempdir().unwrap();
    let program = subjects("failures").join(name);
    let words = ["--format", "json", "--explore", "0"].iter().chain(options).copied();
    Hunt::read(&norn_hunt(words.chain(["--", program.to_str().unwrap()]), &folder))
}

/// The numbers of the lines of some locations.
fn lines(locations: &Value) -> Vec<u64> {
    locations.as_array().unwrap().iter().map(|it| it["line"].as_u64().unwrap()).collect()
}

/// The line in a subject that contains a text.
fn line(name: &str, text: &str) -> u64 {
    let source = std::fs::read_to_string(subjects("failures").join(name)).unwrap();
    let at = source.lines().position(|it| it.contains(text)).unwrap();
    u64::try_from(at + 1).unwrap()
}

#[test]
fn only_reads_that_decide_a_failure_are_tried_on_request() {
    let hunt = hunt("in_progress.c", &["--from", "failures"]);
    assert!(hunt.findings().iter().all(|it| it["at_stake"]["failure"] == "assertion"));
    assert!(hunt.harmful().any(|it| it["consequence"]["assertion"] == "url != NULL"));
    assert_eq!(hunt.first(), Some(2));
}

/// No other analysis has a candidate for it: both writes are in the recorded order in all of theirs.
#[test]
fn a_write_that_comes_too_late_makes_a_loop_endless() {
    let found = hunt("pending.c", &["--from", "failures"]);
    let late = |it: &&Value| it["kind"] == "late-overwrite" && it["consequence"] == "livelock";
    let one = found.harmful().find(late).unwrap_or_else(|| panic!("{:#}", found.json));
    let stake = &one["at_stake"];
    assert_eq!(stake["failure"], "loop");
    assert_eq!(lines(&stake["chain"]), [line("pending.c", "while (atomic_load")]);
    assert_eq!(stake["expected"]["line"], line("pending.c", "atomic_store(&pending, 0)"));
    assert_eq!(stake["instead"]["line"], line("pending.c", "while (atomic_load") - 2);
    let without = hunt("pending.c", &["--distance", "0"]);
    assert!(without.harmful().next().is_none(), "{:#}", without.json);
}

#[test]
fn a_report_leads_from_the_failure_back_to_the_write() {
    let folder = tempfile::tempdir().unwrap();
    let program = subjects("failures").join("session.c");
    let words = ["--explore", "0", "--", program.to_str().unwrap()];
    let text = norn_hunt(words, &folder).stdout;
    assert!(text.contains("the read decides which memory is accessed: handle_events "), "{text}");
    assert!(text.contains("it sees nothing instead of the one at publish "), "{text}");
}
