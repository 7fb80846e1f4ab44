//! Campaigns: their runs, their results and their exit statuses.

use std::fs;

use norn_e2e::schema::report_errors;
use serde_json::{Value, json};

use crate::kit::{flaky, program};

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    let program = program("lottery");
    let one = program.localize(&["-j", "1"]);
    assert_eq!(one["localization"]["settled"], true, "{one}");
    assert_eq!(one, program.localize(&["-j", "3"]));
    assert_eq!(report_errors(&one), [""; 0]);
}

#[test]
fn a_settled_ranking_ends_the_campaign() {
    let subject = flaky("account");
    let program = program("account");
    let runs = |report: &Value| {
        let count = |name: &str| report["localization"][name].as_u64().unwrap();
        count("passed") + count("failed")
    };
    let report = program.localize(&["-n", "400"]);
    assert!(runs(&report) < 400, "{report}");
    assert_eq!(subject.rank(&report["localization"]["clusters"][0]), Some(1));
    let all = program.localize(&["-n", "80", "--no-early-stop"]);
    assert_eq!((runs(&all), &all["localization"]["settled"]), (80, &json!(false)));
}

#[test]
fn failing_runs_can_be_repeated() {
    let program = program("tree_set");
    let report = program.localize(&["--clips", "clips"]);
    let cluster = &report["localization"]["clusters"][0];
    assert_eq!(cluster["clip"], "clips/1.json");
    let words = cluster["reproduce"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    let words: Vec<_> = words.collect();
    assert_eq!(words[0], "norn");
    let again = program.norn(&words[1..]);
    assert!(again.stderr.contains("signal 11 at first"), "{again:?}");
    assert_eq!(program.norn(&["replay", "clips/1.json"]).code, Some(1));
}

#[test]
fn the_text_names_accesses_and_counts() {
    let ran = program("array_list").norn(&["localize", "-n", "60", "--", "./program"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let line = "   #1  atomicity violation on `count`: another thread's write falls between two \
                reads (R1-W2-R1)\n   score 1.00 (";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    assert!(ran.stdout.contains("called from user array_list.c:"), "{}", ran.stdout);
}

#[test]
fn programs_that_cannot_be_used_are_reported() {
    let program = program("account");
    let ran = program.norn(&["localize", "--", "/bin/true"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let ran = program.norn(&["localize", "--", "./missing"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = program.norn(&["localize", "--window", "2", "--", "./program"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let left: Vec<_> = fs::read_dir(program.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
