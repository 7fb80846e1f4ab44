//! Hunts that are interrupted, and hunts that would disturb each other.

use std::{
    path::Path,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use norn_e2e::{
    interrupt::{LONG, Moment, interrupt},
    process::{finish, kill, start},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::{Ran, command, norn, norn_hunt, source_folder, subjects};

/// Starts a hunt that would take very long, and waits until it has written a file.
fn started(folder: &TempDir, name: &str, until: &str) -> Child {
    let options = ["-j1", "--explore", "100000", "--budget", "200000", "--format", "json"];
    let mut hunt = command("hunt");
    hunt.args(options).arg(name).current_dir(folder.path());
    let child = start(hunt);
    wait_for(&folder.path().join(until));
    child
}

fn wait_for(file: &Path) {
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_mins(1), "no {}", file.display());
        thread::sleep(Duration::from_millis(5));
    }
}

fn subject(name: &str) -> TempDir {
    let text = std::fs::read_to_string(subjects("hunt").join(name)).unwrap();
    source_folder("subject.c", &text)
}

/// Shells let some programs ignore other signals than this one.
fn interrupted(child: Child) -> (Ran, Value) {
    kill("-TERM", &child.id().to_string());
    let ran = finish("norn hunt", child);
    let json = ran.json();
    (ran, json)
}

#[test]
fn an_interrupted_hunt_is_not_clean() {
    let folder = subject("account_fixed.c");
    let child = started(&folder, "subject.c", "run.norn/run.json");
    let (ran, json) = interrupted(child);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(json["summary"]["interrupted"], true, "{ran:?}");
    assert_eq!(json["exit"], json!({ "code": 2, "meaning": "interrupted" }), "{ran:?}");
    assert_eq!(json["notes"][0], "interrupted", "{ran:?}");
}

/// Before the program has left an event, nothing is known about it.
#[test]
fn an_interrupted_recording_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut hunt = command("hunt");
    hunt.args(["--", "sh", "-c", "touch started; sleep 1000"]).current_dir(folder.path());
    let child = start(hunt);
    wait_for(&folder.path().join("started"));
    kill("-TERM", &child.id().to_string());
    let ran = finish("norn hunt", child);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(ran.stderr, "norn: interrupted before `sh` was recorded\n", "{ran:?}");
}

#[test]
fn an_interrupted_hunt_reports_what_it_has_found() {
    let folder = subject("account.c");
    let child = started(&folder, "subject.c", "run.norn/clips/1.json");
    let (ran, json) = interrupted(child);
    assert_eq!((ran.code, &json["summary"]["interrupted"]), (Some(1), &json!(true)), "{ran:?}");
    assert!(json["summary"]["harmful"].as_u64() > Some(0), "{ran:?}");
}

#[test]
fn a_hunt_to_its_end_is_not_interrupted() {
    let folder = subject("account_fixed.c");
    let ran = norn_hunt(["--explore", "0", "--format", "json", "subject.c"], &folder);
    assert_eq!(ran.json()["summary"]["interrupted"], false, "{ran:?}");
}

#[test]
fn a_second_hunt_in_the_same_folder_is_refused() {
    let folder = subject("account_fixed.c");
    let first = started(&folder, "subject.c", "run.norn/run.json");
    let second = norn_hunt(["--explore", "0", "subject.c"], &folder);
    assert_eq!((second.code, &*second.stdout), (Some(2), ""), "{second:?}");
    insta::assert_snapshot!(second.stderr, @r"
    norn: another norn writes to `run.norn`
    hint: choose another folder with -o, or wait until it has ended
    ");
    let other = norn_hunt(["--explore", "0", "-o", "other.norn", "subject.c"], &folder);
    assert_eq!(other.code, Some(0), "{other:?}");
    // However the first one ends, the folder is free again.
    kill("-KILL", &format!("-{}", first.id()));
    finish("norn hunt", first);
    let third = norn_hunt(["--explore", "0", "subject.c"], &folder);
    assert_eq!(third.code, Some(0), "{third:?}");
}

/// Far more than an interrupt should take, since the machine may be busy; far less than the phases that are
/// interrupted here take.
const LIMIT: Duration = Duration::from_secs(20);

/// Interrupts hunts in the phases that these moments fall into.
#[track_caller]
fn interrupt_at(folder: &TempDir, program: &str, moments: &[Moment]) {
    for (number, moment) in moments.iter().enumerate() {
        let scratch = tempfile::tempdir().unwrap();
        let output = format!("{number}.norn");
        let format = if number % 2 == 0 { "json" } else { "jsonl" };
        let options = ["-j2", "--explore", "100000", "--budget", "200000", "--format", format];
        let mut hunt = command("hunt");
        hunt.args(options).args(["-o", &output, program]).current_dir(folder.path());
        let ended = interrupt(hunt, scratch.path(), moment);
        assert_eq!(ended.problems(), [""; 0], "{moment:?}: {ended:?}");
        assert!(ended.time < LIMIT && ended.is_cut(), "{moment:?}: {ended:?}");
    }
}

#[test]
fn a_hunt_can_be_interrupted_in_any_phase() {
    let folder = subject("account.c");
    let built = norn("cc", ["-g", "-O1", "-pthread", "-o", "prog", "subject.c"], &folder);
    assert_eq!(built.code, Some(0), "{built:?}");
    let file = |name: &str| Moment::File(folder.path().join(name));
    let after = |time| Moment::After(Duration::from_millis(time));
    interrupt_at(&folder, "subject.c", &[after(0), after(100)]);
    let moments =
        [after(0), file("1.norn/run.json"), file("2.norn/clips/1.json"), after(700), after(1500)];
    interrupt_at(&folder, "./prog", &moments);
}

#[test]
fn a_hunt_of_a_long_run_can_be_interrupted_in_any_phase() {
    let folder = source_folder("long.c", LONG);
    let built = norn("cc", ["-g", "-O1", "-pthread", "-o", "prog", "long.c"], &folder);
    assert_eq!(built.code, Some(0), "{built:?}");
    let file = |name: &str| Moment::File(folder.path().join(name));
    let moments = [
        Moment::After(Duration::from_millis(200)),
        file("1.norn/run.json"),
        Moment::After(Duration::from_secs(3)),
    ];
    interrupt_at(&folder, "./prog", &moments);
}
