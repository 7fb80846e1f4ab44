//! Campaigns in SQLite files: interrupted, resumed, shown and merged.

use std::{fs, thread, time::Duration};

use norn_e2e::{process, schema::report_errors};
use serde_json::Value;

use crate::kit::{Program, flaky, program};

fn localized(program: &Program, words: &[&str]) -> Value {
    let ran = program.norn(words);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    ran.json()["localization"].clone()
}

fn show(program: &Program, store: &str) -> Value {
    localized(program, &["campaign", "show", store, "--format", "json"])
}

fn runs(localization: &Value) -> u64 {
    ["passed", "failed", "unfinished", "lost"]
        .iter()
        .map(|it| localization[it].as_u64().unwrap())
        .sum()
}

#[test]
fn a_stored_campaign_is_ranked_like_any_other() {
    let program = program("lottery");
    let options = ["-n", "40", "--confirm", "0"];
    let plain = program.localize(&options)["localization"].clone();
    let store = ["--store", "runs.db"];
    let stored = program.localize(&[options, ["--store", "runs.db", "-j", "3"]].concat());
    assert_eq!(stored["localization"], plain);
    assert_eq!(report_errors(&stored), [""; 0]);
    assert_eq!(show(&program, "runs.db"), plain);
    // There is nothing left to do.
    assert_eq!(program.localize(&[&options[..], &store].concat())["localization"], plain);
}

#[test]
fn runs_can_be_added() {
    let program = program("account");
    program.localize(&["-n", "10", "--no-early-stop", "--store", "runs.db"]);
    let words = ["localize", "--format", "json", "--resume", "runs.db"];
    assert_eq!(runs(&localized(&program, &words)), 10);
    let added = localized(&program, &[&words[..], &["-n", "15"]].concat());
    assert_eq!((runs(&added), &added["pending"]), (25, &0.into()));
    let once = program.localize(&["-n", "25", "--no-early-stop"])["localization"].clone();
    assert_eq!(added, once);
    assert_eq!(flaky("account").rank(&added["clusters"][0]), Some(1));
}

#[test]
fn another_build_of_the_program_is_refused() {
    let program = program("account");
    program.localize(&["-n", "3", "--confirm", "0", "--store", "runs.db"]);
    let path = program.folder.path().join("program");
    let mut content = fs::read(&path).unwrap();
    // What follows the sections of an ELF file has no meaning, but it is another file.
    content.push(0);
    fs::remove_file(&path).unwrap();
    fs::write(&path, content).unwrap();
    for words in [
        &["localize", "--resume", "runs.db", "-n", "2"][..],
        &["localize", "--store", "runs.db", "--worker"],
        &["localize", "--store", "runs.db", "-n", "3", "--confirm", "0", "--", "./program"],
    ] {
        let ran = program.norn(words);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("the program is not the one of the campaign"), "{ran:?}");
    }
    assert_eq!(runs(&show(&program, "runs.db")), 3);
}

#[test]
fn a_killed_campaign_goes_on() {
    let program = program("account");
    let words = [
        "localize",
        "--store",
        "runs.db",
        "-n",
        "30",
        "-j",
        "2",
        "--no-early-stop",
        "--",
        "./program",
    ];
    let mut made = 0;
    for _ in 0..3 {
        let mut child = process::start(program.command(&words));
        // Until it has made some runs more.
        let deadline = made + 3;
        while made < deadline {
            thread::sleep(Duration::from_millis(20));
            let store = program.folder.path().join("runs.db");
            let shown = if store.exists() {
                program.norn(&["campaign", "show", "runs.db", "--format", "json"])
            } else {
                continue;
            };
            // The file may have no tables yet.
            if shown.code != Some(2) {
                let now = runs(&shown.json()["localization"]);
                assert!(now >= made, "a result was lost");
                made = now;
            }
        }
        process::kill("-KILL", &format!("-{}", child.id()));
        child.wait().unwrap();
        let now = runs(&show(&program, "runs.db"));
        assert!(now >= made, "{now} of {made} runs are left");
        made = now;
    }
    let rest = localized(&program, &["localize", "--format", "json", "--resume", "runs.db"]);
    let whole = program.localize(&["-n", "30", "--no-early-stop"])["localization"].clone();
    assert_eq!(rest, whole);
}

#[test]
fn campaigns_are_merged() {
    let program = program("account");
    let options = ["-n", "9", "--no-early-stop", "--store"];
    program.localize(&[&options[..], &["a.db"]].concat());
    program.localize(&[&options[..], &["b.db", "--seed", "6"]].concat());
    let ran = program.norn(&["campaign", "merge", "a.db", "b.db", "-o", "both.db"]);
    let message = "norn: `both.db` has 15 runs of 2 campaigns\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), message));
    let whole = program.localize(&["-n", "15", "--no-early-stop", "--confirm", "0"]);
    assert_eq!(show(&program, "both.db"), whole["localization"]);
    let ran = program.norn(&["campaign", "merge", "a.db", "b.db", "-o", "both.db"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), "norn: `both.db` exists already\n"));
    program.localize(&["-n", "3", "--window", "4", "--store", "other.db"]);
    let ran = program.norn(&["campaign", "merge", "a.db", "other.db", "-o", "c.db"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("different settings"), "{ran:?}");
    assert!(!program.folder.path().join("c.db").exists());
}

#[test]
fn clips_are_in_the_store() {
    let program = program("tree_set");
    program.localize(&["--store", "runs.db"]);
    let words = ["localize", "--format", "json", "--resume", "runs.db", "--clips", "clips"];
    let localization = localized(&program, &words);
    assert_eq!(localization["clusters"][0]["clip"], "clips/1.json");
    assert_eq!(program.norn(&["replay", "clips/1.json"]).code, Some(1));
}

#[test]
fn a_store_of_something_else_is_not_touched() {
    let program = program("account");
    let refused = |words: &[&str], message: &str| {
        let ran = program.norn(words);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(message), "{ran:?}");
    };
    refused(&["campaign", "show", "missing.db"], "`missing.db` has no campaign");
    refused(&["localize", "--resume", "missing.db"], "`missing.db` has no campaign");
    refused(&["localize", "--store", "missing.db", "--worker"], "`missing.db` has no campaign");
    refused(&["localize", "--worker", "--", "./program"], "--store");
    refused(&["localize", "--resume", "runs.db", "--", "./program"], "cannot be used with");
    fs::write(program.folder.path().join("text"), "Nothing that a database would begin with.")
        .unwrap();
    refused(&["localize", "--store", "text", "--", "./program"], "is not a campaign");
    program.localize(&["-n", "3", "--store", "runs.db"]);
    let words = ["localize", "--store", "runs.db", "--window", "4", "--", "./program"];
    refused(&words, "another command or other options");
    let words = ["localize", "--store", "postgres://norn@%2Fnowhere/x", "--", "./program"];
    refused(&words, "cannot connect to PostgreSQL at /nowhere");
}
