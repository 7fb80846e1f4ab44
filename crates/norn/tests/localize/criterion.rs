//! What counts as a failure, besides crashes and error statuses.

use std::process::Command;

use serde_json::json;

use crate::kit::program;

/// The only failure of a program that prints a wrong sum but ends with status 0.
fn failure(options: &[&str]) -> serde_json::Value {
    let program = program("account");
    // The shell hides the status.
    let words = [&["localize", "--format", "json", "-n", "40"], options].concat();
    let command = ["--", "sh", "-c", "./program 2>&1; true"];
    let ran = program.norn(&[&words[..], &command].concat());
    let report = ran.json();
    let clusters = report["localization"]["clusters"].as_array().unwrap().clone();
    assert!(clusters.len() <= 1, "{report}");
    clusters.into_iter().next().unwrap_or_default()
}

#[test]
fn a_status_that_a_shell_hides_is_no_failure() {
    assert_eq!(failure(&[]), json!(null));
}

#[test]
fn a_regular_expression_finds_failures() {
    let cluster = failure(&["--fail-regex", "payment was [a-z]+"]);
    assert_eq!(cluster["title"], "the output matches `payment was [a-z]+`: payment was lost");
    assert_eq!(cluster["ranking"][0]["shape"], "R1-W2-W1");
}

/// The printed command makes the same run, and judges it in the same way.
#[test]
fn the_printed_command_repeats_the_verdict() {
    let program = program("account");
    let words = ["localize", "-n", "40", "--confirm", "0", "--fail-regex", "payment was [a-z]+"];
    let command = ["--format", "json", "--", "sh", "-c", "./program 2>&1; true"];
    let report = program.norn(&[&words[..], &command].concat()).json();
    let cluster = &report["localization"]["clusters"][0];
    let printed: Vec<_> =
        cluster["reproduce"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    // It is written for a shell.
    let script = printed.join(" ").replacen("norn", env!("CARGO_BIN_EXE_norn"), 1);
    let again = Command::new("sh")
        .args(["-c", &format!("{script} > again")])
        .current_dir(program.folder.path())
        .status()
        .unwrap();
    let text = std::fs::read_to_string(program.folder.path().join("again")).unwrap();
    assert_eq!(again.code(), Some(1), "{script}\n{text}");
    assert!(text.contains("payment was lost (1 run)"), "{text}");
}

#[test]
fn other_output_is_a_failure_if_the_user_wants() {
    let cluster = failure(&["--fail-on-output-change"]);
    assert_eq!(cluster["title"], "the output differs from that of the first run");
    assert_eq!(cluster["ranking"][0]["shape"], "R1-W2-W1");
}

#[test]
fn a_check_decides() {
    let cluster = failure(&["--check", "! grep -q lost \"$NORN_STDOUT\""]);
    assert_eq!(cluster["title"], "check failed with status 1");
    assert_eq!(cluster["ranking"][0]["shape"], "R1-W2-W1");
}
