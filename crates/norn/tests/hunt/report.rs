//! JSON reports: all commands write the format of the published schema.

use std::fs;

use norn_e2e::schema::report_errors;
use serde_json::{Value, json};

use crate::kit::{norn, subjects};

#[test]
fn all_commands_obey_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(subjects("hunt").join("string_buffer.c"), folder.path().join("buffer.c")).unwrap();
    let commands: [(&str, &str, &[&str]); 7] = [
        ("hunt", "hunt", &["--explore", "0", "buffer.c"]),
        ("predict", "predict", &["run.norn"]),
        ("predict", "predict-property", &["--property", "data-race", "run.norn"]),
        ("check", "check", &["data-race", "-o", "check.norn", "buffer.c"]),
        ("replay", "replay", &["run.norn/clips/1.json"]),
        ("replay", "replay", &["--times", "2", "run.norn/clips/1.json"]),
        ("run", "run", &["-o", "run2.norn", "--", "run.norn/program/buffer"]),
    ];
    for (command, name, words) in commands {
        let ran = norn(command, ["--format", "json"].iter().chain(words), &folder);
        let line = ran.stdout.lines().last().unwrap_or_default();
        let report: Value = serde_json::from_str(line).unwrap_or_else(|it| panic!("{it}: {ran:?}"));
        let errors = report_errors(&report);
        assert!(errors.is_empty(), "{command} {words:?}: {errors:#?}");
        assert_eq!((&report["schema"], &report["command"]), (&1.into(), &name.into()));
        assert_eq!(report["exit"]["code"].as_i64(), ran.code.map(Into::into), "{ran:?}");
    }
}

#[test]
fn the_schema_rejects_other_values() {
    for wrong in [json!({ "schema": 1, "findings": [] }), json!([]), json!({ "schema": "1" })] {
        assert!(!report_errors(&wrong).is_empty(), "{wrong}");
    }
}
