//! Predictions from traces of other tools: files in RAPID's STD format.

use std::fmt::Write as _;

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{Ran, norn, source_folder};

/// Two threads update `balance`, one of them without the lock.
const RACE: &str = "T0|fork(T1)|Main.java:3
T1|acq(m)|Bank.java:10
T1|r(balance)|Bank.java:11
T1|w(balance)|Bank.java:12
T1|rel(m)|Bank.java:13
T0|w(balance)|Main.java:5
T0|join(T1)|Main.java:6
";

/// Two threads that acquire two locks in opposite order.
const DEADLOCK: &str = "T0|fork(T1)|1
T0|acq(a)|2
T0|acq(b)|3
T0|rel(b)|4
T0|rel(a)|5
T1|acq(b)|6
T1|acq(a)|7
T1|rel(a)|8
T1|rel(b)|9
";

fn predict(folder: &TempDir, words: &[&str]) -> Ran {
    let words = words.iter().chain(&["run.std"]);
    norn("predict", words, folder)
}

/// The report of a prediction.
fn report(text: &str, words: &[&str]) -> Value {
    let words = [&["--format", "json"], words].concat();
    let ran = predict(&source_folder("run.std", text), &words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The findings of a class.
fn findings<'a>(report: &'a Value, class: &str) -> Vec<&'a Value> {
    let all = report["findings"].as_array().unwrap().iter();
    all.filter(|it| it["class"] == class).collect()
}

#[test]
fn races_are_predicted_with_a_schedule() {
    let report = report(RACE, &["--only", "race"]);
    let races = findings(&report, "race");
    assert!(!races.is_empty(), "{report}");
    for race in races {
        assert_eq!(race["accesses"][0]["variable"]["name"], "balance", "{race}");
        let access = race["accesses"].as_array().unwrap().iter().find(|it| it["thread"] == "T1");
        let stack = &access.unwrap()["stack"][0];
        assert_eq!(stack["file"], "Bank.java", "{race}");
        assert_eq!(access.unwrap()["locks"][0]["name"], "m", "{race}");
        assert_ne!(race["schedule"]["turns"], Value::Null, "{race}");
    }
}

#[test]
fn deadlocks_are_predicted() {
    let report = report(DEADLOCK, &[]);
    assert_eq!(findings(&report, "deadlock").len(), 1, "{report}");
    let text = predict(&source_folder("run.std", DEADLOCK), &["--only", "deadlock"]).stdout;
    assert!(text.contains("deadlock"), "{text}");
    assert!(text.contains("1 candidates, 1 with a schedule"), "{text}");
}

#[test]
fn what_a_lock_protects_is_no_race() {
    let text = RACE.replace("T0|w(balance)", "T0|acq(m)|7\nT0|w(balance)");
    let text = text.replace("T0|join", "T0|rel(m)|8\nT0|join");
    assert!(findings(&report(&text, &[]), "race").is_empty());
}

#[test]
fn only_the_first_candidates_are_examined() {
    // Each variable has two races, one for each order.
    let mut text = String::from("T0|fork(T1)|1\n");
    for at in 0..9 {
        let _ = writeln!(text, "T0|w(x{at})|a{at}\nT1|w(x{at})|b{at}");
    }
    let report = report(&text, &["--only", "race", "--schedules", "4"]);
    let summary = &report["summary"];
    assert_eq!(
        (&summary["candidates"], &summary["scheduled"]),
        (&18.into(), &4.into()),
        "{report}"
    );
    assert_eq!(summary["not_examined"], 14);
    let not_examined = |it: &&&Value| {
        it["why"].as_str().is_some_and(|it| it.starts_with("not examined"))
            && it["status"] == "untried"
    };
    assert_eq!(findings(&report, "race").iter().filter(not_examined).count(), 14);
    let folder = source_folder("run.std", &text);
    let text = predict(&folder, &["--only", "race", "--schedules", "4"]).stdout;
    assert!(text.contains("18 candidates, 4 with a schedule, 14 not examined"), "{text}");
}

#[test]
fn errors_name_the_line() {
    let ran = predict(&source_folder("run.std", "T0|w(x)|1\nT0|jump(x)|2\n"), &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("line 2, column 4: expected one of `r`, `w`"), "{ran:?}");
    let ran = predict(&source_folder("run.std", RACE), &["--property", "missing.norn"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("properties are about traces that Norn recorded"), "{ran:?}");
}
