//! If no run fails, predicted schedules are forced, and the runs are evidence.

use norn_e2e::process::Ran;

use crate::kit::{Program, compile, flaky, program};

/// A seed whose run passes.
fn passing_seed(program: &Program) -> String {
    let passes = |seed: &String| {
        let options = ["-n", "1", "--seed", seed, "--predicted", "0"];
        program.localize(&options)["localization"]["failed"] == 0
    };
    (0..20).map(|it| it.to_string()).find(passes).expect("one of 20 runs passes")
}

#[test]
fn predicted_runs_are_ranked_if_no_run_fails() {
    let program = program("account");
    let seed = passing_seed(&program);
    let options = ["-n", "1", "--seed", &seed, "--clips", "clips", "--store", "runs.db"];
    let report = program.localize(&[&options[..], &["--confirm", "0"]].concat());
    assert_eq!(report["exit"]["code"], 1, "{report}");
    let localization = &report["localization"];
    let predicted = &localization["predicted"];
    assert!(predicted["failed"].as_u64().unwrap() > 0, "{localization}");
    assert_eq!(predicted["failed"], localization["failed"]);
    // The run of the campaign passed.
    let runs = localization["passed"].as_u64().unwrap() + localization["failed"].as_u64().unwrap();
    assert_eq!(runs, predicted["runs"].as_u64().unwrap() + 1);
    let cluster = &localization["clusters"][0];
    assert!(flaky("account").rank(cluster).is_some_and(|it| it <= 2), "{cluster}");
    let clip = cluster["clip"].as_str().unwrap();
    let Ran { code, .. } = program.norn(&["replay", clip]);
    assert_eq!(code, Some(1), "the failure happens again");
    // They are in the store, and are not made again; seeds that are added come before them.
    let shown = |words: &[&str]| {
        let words = [words, &["runs.db", "--format", "json"]].concat();
        program.norn(&words).json()["localization"].clone()
    };
    let stored = shown(&["campaign", "show"]);
    assert_eq!((&stored["predicted"], &stored["failed"]), (predicted, &localization["failed"]));
    assert_eq!(stored["clusters"][0]["ranking"], cluster["ranking"]);
    let resumed = shown(&["localize", "--confirm", "0", "--resume"]);
    assert_eq!(resumed["clusters"], stored["clusters"]);
    let more = shown(&["localize", "--confirm", "0", "-n", "2", "--resume"]);
    let added = |it: &str| more[it].as_u64().unwrap() - stored[it].as_u64().unwrap();
    assert_eq!(added("passed") + added("failed"), 2, "{more}");
    assert!(more["predicted"]["runs"].as_u64() >= predicted["runs"].as_u64(), "{more}");
}

#[test]
fn nothing_fails_in_a_correct_program() {
    let program = compile(&flaky("account").twin);
    let ran = program.norn(&["localize", "-n", "3", "--", "./program"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("no run failed by itself"), "{ran:?}");
    assert!(ran.stdout.contains("0 of these runs failed"), "{ran:?}");
}

#[test]
fn a_pattern_is_drawn() {
    let program = program("account");
    let words = ["localize", "-n", "30", "--confirm", "0", "--format"];
    let drawn = |format| program.norn(&[&words[..], &[format, "--", "./program"]].concat()).stdout;
    let dot = drawn("dot");
    assert!(dot.starts_with("digraph patterns {") && dot.contains(" -> "), "{dot}");
    let svg = drawn("svg");
    assert!(svg.starts_with("<svg") && svg.contains("balance"), "{svg}");
    let perfetto = drawn("perfetto");
    assert!(perfetto.contains("traceEvents") && perfetto.contains("clerk account.c"), "{perfetto}");
    let junit = drawn("junit");
    assert!(junit.contains("failures=\"1\"") && junit.contains("balance"), "{junit}");
}
