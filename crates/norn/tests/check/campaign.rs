//! Features that checks share with hunts: exploration, suppressions, a baseline, exit status, engines.

use std::fs;

use tempfile::TempDir;

use crate::kit::{Ran, build, norn, subjects};

/// A folder with a program that uses a closed handle under another schedule.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    build(&subjects().join("use_after_close.c"), &folder);
    folder
}

fn check(folder: &TempDir, options: &[&str]) -> Ran {
    let words = ["check", "use-after-close"].iter().chain(options).chain(&["--", "./subject"]);
    norn(words, folder)
}

#[test]
fn violations_can_be_suppressed() {
    let folder = folder();
    for (line, code) in
        [("property:UseAfterClose", 0), ("*:use_after_close.c", 0), ("property:Other", 1)]
    {
        fs::write(folder.path().join("my.supp"), line).unwrap();
        let ran = check(&folder, &["--suppressions", "my.supp"]);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        assert_eq!(ran.stdout.contains("suppressed"), code == 0, "{line}: {ran:?}");
    }
}

#[test]
fn known_violations_do_not_count() {
    let folder = folder();
    assert_eq!(check(&folder, &["--write-baseline", "known.json"]).code, Some(0));
    let again = check(&folder, &["--baseline", "known.json"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("in the baseline"), "{again:?}");
}

#[test]
fn checks_explore_and_choose_an_engine() {
    let folder = folder();
    let executions = |options: &[&str]| {
        let ran = check(&folder, &[options, &["--format", "json"]].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        json["summary"]["executions"].as_u64().unwrap()
    };
    let usual = executions(&[]);
    assert!(executions(&["--explore", "8"]) >= usual + 8);
    assert_eq!(executions(&["--engine", "hybrid"]), usual);
}

#[test]
fn the_number_of_jobs_has_no_influence() {
    let folder = folder();
    let [one, two, eight] = ["1", "2", "8"].map(|jobs| {
        let options = ["--property", "data-race", "-j", jobs, "--budget", "6", "--explore", "2"];
        check(&folder, &[&options[..], &["--format", "json"]].concat()).stdout
    });
    assert_eq!(one, two);
    assert_eq!(one, eight);
}
