//! Hunts from visible failures: which reads decide them, what these reads see, and in which order
//! candidates are tried.

use serde_json::Value;

use crate::kit::{Hunt, norn, norn_hunt, subjects};

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

/// The C++ library catches an exception that nothing else does, reads its text and aborts the program.
#[test]
fn an_uncaught_exception_is_explained_where_it_was_thrown() {
    let folder = tempfile::tempdir().unwrap();
    let program = subjects("failures").join("overdraft.cc");
    let text = norn_hunt(["--", program.to_str().unwrap()], &folder).stdout;
    let cause = "1. atomicity violation on `balance`: another thread's write falls between two reads: \
                 uncaught exception of type std::logic_error: overdraft\n";
    assert!(text.starts_with(cause), "{text}");
    let at =
        format!("ended the program at withdraw overdraft.cc:{}", line("overdraft.cc", "// throw"));
    assert!(text.contains(&at), "no {at}: {text}");
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

/// The first read of the flag decides only whether the thread goes on: if it sees the other value, the message
/// is not printed.
#[test]
fn what_cannot_fail_by_its_condition_is_not_tried() {
    let hunt = hunt("collector.c", &["--from", "failures"]);
    let first = line("collector.c", "int wait = collecting");
    let ends = |it: &Value| lines(&it["at_stake"]["chain"]).last().copied();
    assert!(hunt.findings().iter().all(|it| ends(it) != Some(first)), "{:#}", hunt.json);
    assert_eq!(hunt.first(), Some(2));
    assert_eq!(hunt.harmful().count(), hunt.findings().len());
}

/// Whether a thread frees memory depends on a flag that it would see too early.
#[test]
fn a_second_free_is_found_from_the_condition_of_the_first() {
    let hunt = hunt("freed_twice.c", &["--from", "failures"]);
    let one = hunt.harmful().next().unwrap_or_else(|| panic!("{:#}", hunt.json));
    assert_eq!(one["at_stake"]["failure"], "free");
    assert_eq!(one["consequence"]["memory"], "double-free");
}

/// No failure depends on the reads in a few steps; that a total is the sum of its parts was learnt.
#[test]
fn learnt_invariants_lead_to_failures() {
    let folder = tempfile::tempdir().unwrap();
    let program = subjects("failures").join("audit.c");
    let program = program.to_str().unwrap();
    let learnt = norn("learn", ["-n", "30", "-o", "audit.inv", "--", program], &folder);
    assert_eq!(learnt.code, Some(0), "{learnt:?}");
    let invariants = std::fs::read_to_string(folder.path().join("audit.inv")).unwrap();
    let sum = ": = sum of accounts[] @ audit audit.c:";
    assert!(
        invariants.lines().any(|it| it.starts_with("total @ ") && it.contains(sum)),
        "{invariants}"
    );
    let options = ["--format", "json", "--explore", "0", "--from", "failures"];
    let without = Hunt::read(&norn_hunt(options.into_iter().chain(["--", program]), &folder));
    assert!(without.findings().is_empty(), "{:#}", without.json);
    let learnt = ["--invariants", "audit.inv", "--", program];
    let with = Hunt::read(&norn_hunt(options.into_iter().chain(learnt), &folder));
    let one = with.harmful().next().unwrap_or_else(|| panic!("{:#}", with.json));
    assert_eq!(one["at_stake"]["failure"], "invariant");
    let wrong = norn_hunt(["--invariants", program, "--", program], &folder);
    assert!(wrong.stderr.contains("a file of invariants begins with"), "{wrong:?}");
    assert_eq!(wrong.code, Some(2));
}

/// Two variables that two other threads write: no other analysis has a candidate with both reads.
#[test]
fn reads_that_fail_only_together_are_tried_together() {
    let found = hunt("unsaved.c", &["--from", "failures"]);
    assert_eq!(found.first(), Some(2), "{:#}", found.json);
    let first = found.harmful().find(|it| it["executions"] == 2).unwrap();
    assert_eq!(first["accesses"].as_array().unwrap().len(), 4);
    let without = hunt("unsaved.c", &["--distance", "0"]);
    assert!(without.harmful().next().is_none(), "{:#}", without.json);
}

/// Three variables that three other threads set and reset: all three must be seen set.
#[test]
fn three_reads_that_fail_only_together_are_tried_together() {
    let found = hunt("valves.c", &["--from", "failures"]);
    assert_eq!(found.first(), Some(2), "{:#}", found.json);
    let first = found.harmful().find(|it| it["executions"] == 2).unwrap();
    assert_eq!(first["accesses"].as_array().unwrap().len(), 6);
}

/// A thread that comes earlier sees other flags on its way to the read, and takes another path: no order of the
/// recorded events leads to it. Holding threads at places does, and the clip repeats it.
#[test]
fn a_read_on_another_path_is_reached_by_holding_threads() {
    let found = hunt("reindex.c", &["--from", "failures"]);
    let one = found.harmful().next().unwrap_or_else(|| panic!("{:#}", found.json));
    assert_eq!(one["schedule"]["grade"], "perturbed");
    assert_eq!(one["at_stake"]["failure"], "assertion");
}

/// The thread takes another path in the last turn of the schedule: there it is led to its accesses by place.
#[test]
fn the_last_access_may_be_on_another_path() {
    let found = hunt("replica.c", &["--from", "failures"]);
    assert_eq!(found.first(), Some(2), "{:#}", found.json);
    let one = found.harmful().next().unwrap_or_else(|| panic!("{:#}", found.json));
    assert_eq!(one["schedule"]["grade"], "speculative");
    assert_eq!(one["at_stake"]["failure"], "assertion");
}

/// Only failures of the chosen kinds lead to candidates.
#[test]
fn kinds_of_failures_can_be_chosen() {
    let kinds = |options: &[&str]| {
        let words: Vec<_> = ["--from", "failures"].iter().chain(options).copied().collect();
        let found = hunt("in_progress.c", &words);
        let kinds = found.findings().iter().map(|it| it["at_stake"]["failure"].to_string());
        kinds.collect::<std::collections::BTreeSet<_>>()
    };
    let assertion = kinds(&["--failure", "assertion"]);
    assert_eq!(assertion.into_iter().collect::<Vec<_>>(), ["\"assertion\""]);
    assert!(kinds(&["--failure", "loop", "--failure", "free"]).is_empty());
}
