//! Opening of valid and invalid traces.

use std::fs;

use insta::assert_snapshot;
use norn_abi::Kind;
use norn_trace::{Run, Trace, TraceError};
use tempfile::TempDir;

use crate::{
    chunk::Chunk,
    folder::{Folder, run, show},
};

/// The text of the error, without the random folder name.
fn error(folder: &std::path::Path, process: u32) -> String {
    let error = Trace::open(folder, process).unwrap_err().to_string();
    error.replace(&*folder.to_string_lossy(), "run.norn")
}

#[test]
fn a_missing_folder() {
    let folder = TempDir::new().unwrap();
    assert_snapshot!(error(&folder.path().join("run.norn"), 0), @r"
    there is no trace at `run.norn`
    hint: `norn record -o run.norn ./program` makes one
    ");
}

#[test]
fn another_folder() {
    let folder = TempDir::new().unwrap();
    assert_snapshot!(error(folder.path(), 0), @r"
    `run.norn` is not a trace: it has no `run.json`
    hint: a trace is a folder with a `run.json` in it
    ");
}

#[test]
fn a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert_snapshot!(error(&file, 0), @r"
    `run.norn` is not a trace: it is a file
    hint: a trace is a folder with a `run.json` in it
    ");
}

#[test]
fn json_that_is_not_a_run() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("run.json"), "{}").unwrap();
    assert_snapshot!(error(folder.path(), 0), @r"
    `run.norn` is not a trace: `run.json`: missing field `format` at line 1 column 2
    hint: a trace is a folder with a `run.json` in it
    ");
}

#[test]
fn a_trace_of_a_newer_version() {
    let folder = TempDir::new().unwrap();
    let text = r#"{ "format": 1000, "what else": "we do not know" }"#;
    fs::write(folder.path().join("run.json"), text).unwrap();
    let error = Run::open(folder.path()).unwrap_err();
    assert!(matches!(error, TraceError::Newer { format: 1000, .. }));
    assert!(
        error.to_string().starts_with(
            "this trace was written by a newer norn (format 1000, this one reads up to "
        )
    );
}

#[test]
fn an_unknown_process() {
    let folder = Folder::write(&[Chunk::new().sync(Kind::Begin, 0, 1, &[0])]);
    assert_snapshot!(error(&folder.path(), 7), @r"
    the trace has no process 7
    hint: it has only process 0
    ");
}

#[test]
fn a_process_with_a_missing_file() {
    let folder = Folder::write(&[Chunk::new()]);
    fs::remove_file(folder.path().join("0.chunks")).unwrap();
    assert_snapshot!(show(&folder.open()), @"! process 0, offset 0x0: the file is missing");
}

#[test]
fn a_run_whose_recorder_was_killed() {
    let mut child = Chunk::new().sync(Kind::Begin, 0, 1, &[0]);
    child.header.process = 2;
    let folder = Folder::write(&[child]);
    let text = serde_json::to_vec(&Run { complete: false, processes: vec![], ..run() }).unwrap();
    fs::write(folder.path().join("run.json"), text).unwrap();
    let trace = Trace::open(&folder.path(), 2).unwrap();
    assert_snapshot!(show(&trace), @"T0 begin");
    assert!(trace.losses().incomplete);
}

#[test]
fn losses_are_those_of_the_process() {
    let losses = Folder::write(&[Chunk::new()]).open().losses();
    assert_eq!((losses.events, losses.incomplete), (3, false));
}
