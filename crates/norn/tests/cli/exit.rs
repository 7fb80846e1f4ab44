//! Exit statuses.

use std::io;

use crate::kit::{command, folder, lost_update, norn, run};

#[test]
fn exit_statuses_are_explained() {
    let ran = norn(&["help", "exit-codes"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let text = norn(&["exit-codes"]).stdout;
    for status in ["  0  ", "  1  ", "  2  ", "  3  "] {
        assert!(text.contains(status), "{text}");
    }
    assert!(ran.stdout.contains("the schedule was followed, and what the clip is about did not"));
}

#[test]
fn nothing_harmful_is_0() {
    assert_eq!(norn(&["patterns"]).code, Some(0));
    assert_eq!(norn(&["property", "list"]).code, Some(0));
}

#[test]
fn something_harmful_is_1() {
    let folder = folder(&[]);
    let source = lost_update();
    let words = ["hunt", "-j2", "--budget", "50", "--", source.to_str().unwrap()];
    let ran = run(&mut command(&words, folder.path()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn wrong_usage_and_missing_files_are_2() {
    let cases = [
        &[][..],
        &["hunt"],
        &["strange"],
        &["info", "missing.norn"],
        &["replay", "missing.json"],
        &["check", "missing.norn", "./prog"],
        &["-q", "-v", "patterns"],
        &["property", "show", "missing"],
    ];
    for words in cases {
        let ran = norn(words);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{words:?}: {ran:?}");
        assert_ne!(ran.stderr, "", "{words:?}");
    }
}

#[test]
fn a_program_without_instrumentation_is_3() {
    for words in [&["hunt", "true"][..], &["record", "true"], &["run", "true"]] {
        let ran = norn(words);
        assert_eq!(ran.code, Some(3), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("was not built with norn"), "{words:?}: {ran:?}");
    }
}

/// As in `norn dump run.norn | head`.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = folder(&[]);
    let cases = [
        &["patterns"][..],
        &["header"],
        &["exit-codes"],
        &["completions", "bash"],
        &["man"],
        &["property", "list"],
        &["--help"],
    ];
    for words in cases {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = command(words, folder.path()).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{words:?}");
    }
}
