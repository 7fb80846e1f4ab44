//! Batches of runs.

use std::{
    fs,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::kit::{Ran, Subject, subject};

/// A subject with a clip under which an update is lost.
fn lost_update() -> Subject {
    let subject = subject("lost_update.c");
    let read = subject.line("// read");
    let schedule = [
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": format!("read {read}")})),
        ("T0.2", json!("end")),
        ("T0.1", json!("end")),
    ];
    subject.write(&[], &schedule);
    subject
}

/// A command whose scratch is in a folder that must be empty afterwards.
fn clean(subject: &Subject, words: &[&str]) -> Ran {
    let scratch = subject.file("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let mut command = subject.command(words);
    command.env("TMPDIR", &scratch);
    let ran = crate::kit::run(command);
    let left: Vec<_> = fs::read_dir(&scratch).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    ran
}

#[test]
fn all_runs_of_a_schedule_are_the_same() {
    let subject = lost_update();
    let ran = clean(&subject, &["replay", "--times", "20", "-j", "3", "clip.json"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let expected = "20 of 20 runs are the same: followed 4 of 4 segments, \
                    assertion failed: counter == 2\n";
    assert_eq!(ran.stdout, expected);
    assert_eq!(ran.stderr, "norn: the clip runs ./subject\n");
}

#[test]
fn json_has_the_batch() {
    let subject = lost_update();
    let ran = clean(&subject, &["replay", "--times", "4", "--format", "json", "clip.json"]);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    let json = &ran.json()["batch"];
    assert_eq!((&json["runs"], &json["failed"]), (&json!(4), &json!(4)), "{json}");
    let kinds = json["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 1, "{json}");
    assert_eq!(kinds[0]["consequence"], json!({"assertion": "counter == 2"}), "{json}");
    assert_eq!(kinds[0]["verdict"], json!({"followed": 4}), "{json}");
    assert!(kinds[0]["print"]["events"].is_u64(), "{json}");
}

#[test]
fn kinds_of_runs_are_reported_and_kept() {
    let subject = subject("unsteady.c");
    subject.write(&[], &[]);
    let ran = clean(&subject, &["replay", "--times", "3", "-o", "kept", "clip.json"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(ran.stdout.contains("1 of 3 runs are the same: followed 0 of 0 seg"), "{ran:?}");
    assert!(ran.stdout.contains("1 differs in events, standard output: "), "{ran:?}");
    assert!(ran.stdout.contains("here    T0.1 write id = "), "{ran:?}");
    assert!(ran.stdout.contains("one of them is in kept/3"), "{ran:?}");
    for number in 1..=3 {
        assert!(subject.file(&format!("kept/{number}/trace/run.json")).exists());
        assert!(subject.file(&format!("kept/{number}/stdout")).exists());
    }
    let ran = clean(&subject, &["replay", "--times", "3", "-o", "kept", "clip.json"]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`kept` is not an empty folder"), "{ran:?}");
}

#[test]
fn successive_seeds_have_different_consequences() {
    let subject = subject("lost_update.c");
    let words = ["run", "--times", "40", "--seed", "5", "--save", "clip.json", "--", "./subject"];
    let ran = clean(&subject, &words);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert_eq!(ran.stdout, clean(&subject, &words).stdout);
    assert!(ran.stdout.starts_with("40 runs, "), "{ran:?}");
    assert!(!subject.file("run.norn").exists());
    // The command that is printed repeats the first failure.
    let (_, again) = ran.stdout.split_once("reproduce the first failure: norn ").unwrap();
    let alone = clean(&subject, &again.split_whitespace().collect::<Vec<_>>());
    assert_eq!(alone.status.signal(), Some(6), "{alone:?}");
    let ran = subject.replay("clip.json", &["--times", "5"]);
    assert!(ran.stdout.starts_with("5 of 5 runs are the same: followed"), "{ran:?}");
    assert!(ran.stdout.ends_with("assertion failed: counter == 2\n"), "{ran:?}");
}

#[test]
fn a_batch_can_stop_at_the_first_failure() {
    let subject = subject("lost_update.c");
    let words =
        ["run", "--times", "1000", "--until-failure", "--format", "json", "--", "./subject"];
    let (first, again) = (clean(&subject, &words).json(), clean(&subject, &words).json());
    let [first, again] = [&first["batch"], &again["batch"]];
    assert!(first["runs"].as_u64().unwrap() < 1000, "{first}");
    assert!(first["failed"].as_u64().unwrap() > 0, "{first}");
    assert_eq!(first["repeat"], again["repeat"]);
}

#[test]
fn a_program_without_instrumentation_is_run_once() {
    let subject = subject("lost_update.c");
    let ran = clean(&subject, &["run", "--times", "100", "-j", "1", "--", "true"]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), ""), "{ran:?}");
    assert_eq!(ran.stderr.matches("left no events").count(), 1, "{ran:?}");
}

/// Processes that run a program.
fn running(program: &Path) -> usize {
    let program = program.canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let programs = processes.filter_map(|it| fs::read_link(it.path().join("exe")).ok());
    programs.filter(|it| *it == program).count()
}

fn wait_for(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(30), "waited in vain");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let subject = subject("unsteady.c");
    let scratch = subject.file("scratch");
    fs::create_dir(&scratch).unwrap();
    for signal in ["INT", "TERM"] {
        let words = ["run", "--times", "9", "-j", "2", "--", "./subject", "sleep"];
        let mut command = subject.command(words);
        let mut child = command.env("TMPDIR", &scratch).spawn().unwrap();
        // Two runs, each with a child.
        wait_for(|| running(&subject.file("subject")) == 4);
        let id = child.id().to_string();
        std::process::Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap();
        let number = if signal == "INT" { 2 } else { 15 };
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert_eq!(running(&subject.file("subject")), 0);
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    }
}

#[test]
fn a_check_decides_whether_a_run_fails() {
    let subject = subject("lost_update.c");
    let check = |command: &str, options: &[&str]| {
        let words = [&["run", "--strategy", "round-robin", "--quantum", "100"], options].concat();
        clean(&subject, &[&words[..], &["--check", command, "--", "./subject"]].concat())
    };
    let grep = "grep -q both \"$NORN_STDOUT\" && exit $NORN_STATUS";
    let ran = check(grep, &[]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "both were counted\n"), "{ran:?}");
    let ran = check("exit 7", &["--save", "clip.json"]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(1), "both were counted\n"), "{ran:?}");
    assert!(ran.stderr.contains("norn: check failed with status 7"), "{ran:?}");
    let ran = check("exit 7", &["--times", "3"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(ran.stdout.contains("3  check failed with status 7"), "{ran:?}");
    let ran = check("exit 7", &["--format", "json"]);
    assert!(ran.stdout.starts_with("both were counted\n{"), "{ran:?}");
    assert_eq!(ran.json()["run"]["consequence"], json!({"check": 7}), "{ran:?}");
    let ran = check("exit 7", &["--times", "3", "--format", "json"]);
    assert_eq!(ran.json()["batch"]["kinds"][0]["consequence"], json!({"check": 7}), "{ran:?}");
    for (command, status) in [("exit 7", 1), ("exit 8", 0), ("true", 0)] {
        let ran = subject.replay("clip.json", &["--check", command]);
        assert_eq!(ran.status.code(), Some(status), "{ran:?}");
    }
}

#[test]
fn pct_measures_the_number_of_events() {
    let subject = subject("lost_update.c");
    let words = ["run", "--strategy", "pct", "--seed", "3", "--", "./subject"];
    let ran = clean(&subject, &words);
    assert!(ran.stderr.contains("norn: the program has about "), "{ran:?}");
    let words = ["run", "--strategy", "pct", "--times", "5", "--", "./subject"];
    let (ran, again) = (clean(&subject, &words), clean(&subject, &words));
    assert_eq!(ran.stderr.matches("the program has about").count(), 1, "{ran:?}");
    assert_eq!((ran.stdout, ran.stderr), (again.stdout, again.stderr));
    let words = ["run", "--strategy", "pct", "--expected", "20", "--", "./subject"];
    assert!(!clean(&subject, &words).stderr.contains("the program has about"));
}
