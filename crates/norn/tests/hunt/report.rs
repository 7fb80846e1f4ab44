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

/// A hunt keeps its report, from which every format can be written later.
#[test]
fn a_kept_report_is_written_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(subjects("hunt").join("string_buffer.c"), folder.path().join("buffer.c")).unwrap();
    let options = ["--explore", "0", "--budget", "20", "--html", "hunt.html", "buffer.c"];
    let hunted = norn("hunt", options, &folder);
    assert_eq!(hunted.code, Some(1), "{hunted:?}");
    let report = |words: &[&str]| {
        let ran = norn("report", ["run.norn"].iter().chain(words), &folder);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    let headline = hunted.stdout.lines().next().unwrap_or_default();
    assert!(headline.starts_with("1. "), "{hunted:?}");
    assert!(report(&[]).starts_with(headline));
    report(&["--html", "report.html"]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("report.html"), read("hunt.html"));
    assert!(read("hunt.html").contains(
        "pthread_mutex_lock(&from->lock)".replace('&', "\\u0026").replace('>', "\\u003e").as_str()
    ));
    let sarif: Value = serde_json::from_str(&report(&["--format", "sarif"])).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["codeFlows"][0]["threadFlows"].as_array().unwrap().len(), 2, "{result}");
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "buffer.c");
    let fingerprint = result["partialFingerprints"]["nornBug/v1"].as_str().unwrap();
    assert!(fingerprint.len() == 18 && fingerprint.ends_with(":1"), "{fingerprint}");
    assert!(report(&["--format", "junit"]).contains("<failure message="));
    assert!(
        report(&["--format", "github"])
            .starts_with("::error title=atomicity violation,file=buffer.c,line=")
    );
    let trace: Value = serde_json::from_str(&report(&["--format", "perfetto"])).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 10, "{trace}");
}

#[test]
fn a_folder_without_a_report_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let ran = norn("report", ["."], &folder);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`.` has no report\nhint: "), "{ran:?}");
    fs::write(folder.path().join("report.json"), "{\"schema\": 99}\n").unwrap();
    let ran = norn("report", ["report.json"], &folder);
    assert!(ran.stderr.contains("it has version 99"), "{ran:?}");
}

#[test]
fn the_schema_rejects_other_values() {
    for wrong in [json!({ "schema": 1, "findings": [] }), json!([]), json!({ "schema": "1" })] {
        assert!(!report_errors(&wrong).is_empty(), "{wrong}");
    }
}
