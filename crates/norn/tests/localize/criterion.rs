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
    assert_eq!(cluster["title"], "the output matches `payment was [a-z]+`");
    assert_eq!(cluster["ranking"][0]["shape"], "R1-W2-W1");
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

/// Formats that have no rankings would show nothing.
#[test]
fn formats_without_rankings_are_refused() {
    let ran = Command::new(env!("CARGO_BIN_EXE_norn"))
        .args(["localize", "--format", "perfetto", "--", "./program"])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("invalid value 'perfetto'"), "{ran:?}");
}
