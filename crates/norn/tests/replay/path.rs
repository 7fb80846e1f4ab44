//! The path of a clip: events between the points of the schedule are compared, too.

use std::fs;

use serde_json::{Value, json};

use crate::kit::{self, Ran, Subject, subject};

/// A subject with a clip of a run with turns of this length.
fn two_ways(quantum: &str) -> Subject {
    let subject = subject("two_ways.c");
    let ran =
        subject.run(&["--strategy", "round-robin", "--quantum", quantum, "--save", "clip.json"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    subject
}

/// A replay in which the first thread reads the counter early.
fn early(subject: &Subject, options: &[&str]) -> Ran {
    let mut command = subject.command([&["replay", "clip.json"], options].concat());
    command.env("EARLY", "1");
    kit::run(command)
}

/// The message about the detour.
fn told(subject: &Subject) -> String {
    let [early, lock] = ["// early", "// lock"].map(|it| subject.line(it));
    format!(
        "the recorded path at its event 2, and came back at event 4\n  \
         expected  event 2, lock at add {lock}\n  \
         actual    event 2, read at add {early}\n  \
         before    event 1, read at add {early}\n"
    )
}

fn read(subject: &Subject, clip: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(subject.file(clip)).unwrap()).unwrap()
}

#[test]
fn a_clip_has_the_path_of_its_run() {
    let subject = two_ways("100");
    let clip = read(&subject, "clip.json");
    assert_eq!(clip["norn"], 6);
    let path = &clip["path"];
    let events = |thread: usize| path["threads"][thread]["events"].as_str().unwrap().to_owned();
    assert_eq!(path["threads"].as_array().unwrap().len(), 3, "{path}");
    // Only the first thread checks whether it is early; otherwise the threads are the same.
    assert_eq!((&*events(1), &*events(2)), ("0 7 8 9 10 11 0", "0 8 9 10 11 0"), "{path}");
    let lock = path["points"][8].as_str().unwrap();
    assert!(lock.starts_with(&format!("lock {} in add @program+", subject.line("// lock"))));
    let ran = subject.replay("clip.json", &[]);
    assert!(ran.stderr.contains("followed: 4 of 4 segments"), "{ran:?}");
    assert!(!ran.stderr.contains("recorded path"), "{ran:?}");
}

/// All points of the schedule are reached: it was followed, and the detour is reported.
#[test]
fn a_detour_between_points_is_reported() {
    let subject = two_ways("100");
    let ran = early(&subject, &[]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let expected = format!("followed: 4 of 4 segments\nnorn: T0.1 left {}", told(&subject));
    assert!(ran.stderr.contains(&expected), "{ran:?}");
}

/// A point is missed: the first event that differs is named, which is an earlier one.
#[test]
fn a_detour_that_misses_a_point_is_reported() {
    let subject = two_ways("3");
    assert!(subject.replay("clip.json", &[]).stderr.contains("followed: 8 of 8"));
    let ran = early(&subject, &[]);
    let diverged = "norn: diverged in segment 2 of 8: T0.1 came to another event";
    assert!(ran.stderr.contains(diverged), "{ran:?}");
    assert!(ran.stderr.contains("  actual    event 3, write of seen at add"), "{ran:?}");
    assert!(ran.stderr.contains(&format!("norn: T0.1 had left {}", told(&subject))), "{ran:?}");
}

#[test]
fn json_has_the_detour() {
    let subject = two_ways("100");
    let same = &subject.replay("clip.json", &["--format", "json"]).json()["run"];
    assert_eq!(same.get("detour"), None, "{same}");
    let json = &early(&subject, &["--format", "json"]).json()["run"];
    assert_eq!(json["verdict"], json!({"followed": 4}), "{json}");
    let detour = &json["detour"];
    let numbers = (&detour["thread"], &detour["event"], &detour["back"]);
    assert_eq!(numbers, (&json!("T0.1"), &json!(2), &json!(4)), "{json}");
    let [early, lock] = ["// early", "// lock"].map(|it| subject.line(it));
    let points =
        [("expected", "lock", lock), ("actual", "read", early.clone()), ("last", "read", early)];
    for (name, class, line) in points {
        let (point, at) = (&detour[name], &detour[name]["at"]);
        let here = format!("{}:{}", at["file"].as_str().unwrap(), at["line"]);
        assert_eq!((&point["operation"], here), (&class.into(), line), "{json}");
        assert_eq!((&at["function"], &at["module"]), (&"add".into(), &"program".into()), "{json}");
        assert!(at["offset"].is_u64(), "{json}");
    }
}

/// Both branches are on one line, and differ by their addresses.
#[test]
fn a_detour_on_the_same_line_is_reported() {
    let subject = subject("two_ways.c");
    let before = "if (arg && early) seen = counter; // early";
    subject.edit(before, "if (arg) { if (early) seen = counter; else seen = seen; }");
    subject.run(&["--strategy", "round-robin", "--quantum", "100", "--save", "clip.json"]);
    let stderr = early(&subject, &[]).stderr;
    let line = |word: &str| stderr.lines().find(|it| it.trim().starts_with(word)).unwrap();
    let (expected, actual) = (line("expected"), line("actual"));
    for line in [expected, actual] {
        assert!(line.contains(" event 2, read at add two_ways.c:11 (program+0x"), "{stderr}");
    }
    assert_ne!(expected.replace("expected", "actual  "), actual, "{stderr}");
}

#[test]
fn a_batch_reports_the_detour() {
    let subject = two_ways("100");
    let ran = early(&subject, &["--times", "5"]);
    let expected = "5 of 5 runs are the same: followed 4 of 4 segments, no failure\n";
    assert_eq!(ran.stdout, format!("{expected}norn: T0.1 left {}", told(&subject)), "{ran:?}");
    let json = early(&subject, &["--times", "5", "--format", "json"]).json();
    assert_eq!(json["batch"]["kinds"][0]["detour"]["event"], 2, "{json}");
    let ran = subject.replay("clip.json", &["--times", "5"]);
    assert_eq!(ran.stdout, expected, "{ran:?}");
}

/// The lines below have moved, and addresses differ.
#[test]
fn an_edit_that_changes_no_event_is_no_detour() {
    let subject = two_ways("100");
    subject.edit("    // after\n", "    int spare = 1;\n    (void)spare;\n");
    let ran = subject.replay("clip.json", &[]);
    assert!(ran.stderr.contains("followed: 4 of 4 segments"), "{ran:?}");
    assert!(!ran.stderr.contains("recorded path"), "{ran:?}");
}

#[test]
fn an_added_access_is_a_detour() {
    let subject = two_ways("100");
    let (add, unlock) = (subject.line("// add"), subject.line("// unlock"));
    subject.edit("counter++; // add", "counter++; seen = 1; // add");
    let ran = subject.replay("clip.json", &[]);
    let expected = format!(
        "followed: 4 of 4 segments\n\
         norn: T0.1 left the recorded path at its event 5, and came back at event 6\n  \
         expected  event 5, unlock at add {unlock}\n  \
         actual    event 5, write at add {add}\n  \
         before    event 4, write at add {add}\n"
    );
    assert!(ran.stderr.contains(&expected), "{ran:?}");
}

#[test]
fn removed_accesses_are_a_detour() {
    let subject = two_ways("100");
    subject.edit("counter++; // add", "// add");
    let ran = subject.replay("clip.json", &[]);
    let (add, unlock) = (subject.line("// add"), subject.line("// unlock"));
    let expected = format!(
        "norn: T0.1 left the recorded path at its event 3, having skipped something\n  \
         expected  event 3, read at add {add}\n  \
         actual    event 3, unlock at add {unlock}\n"
    );
    assert!(ran.stderr.contains(&expected), "{ran:?}");
}

/// As older versions and users write them.
#[test]
fn a_clip_without_a_path_is_replayed() {
    let subject = two_ways("3");
    let mut clip = read(&subject, "clip.json");
    clip["norn"] = json!(1);
    clip.as_object_mut().unwrap().remove("path").unwrap();
    fs::write(subject.file("clip.json"), clip.to_string()).unwrap();
    assert!(subject.replay("clip.json", &[]).stderr.contains("followed: 8 of 8 segments"));
    let ran = early(&subject, &[]);
    assert!(ran.stderr.contains("diverged in segment 2 of 8"), "{ran:?}");
    assert!(!ran.stderr.contains("recorded path"), "{ran:?}");
}

#[test]
fn an_invalid_path_is_an_error() {
    let subject = two_ways("100");
    let check = |events: &str, expected: &str| {
        let mut clip = read(&subject, "clip.json");
        clip["path"]["threads"][1]["events"] = json!(events);
        fs::write(subject.file("wrong.json"), clip.to_string()).unwrap();
        let ran = subject.replay("wrong.json", &[]);
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    check("0 12", "the path has no point with number 12");
    check("0 (1 2", "`0 (1 2` is not a sequence");
    check("0*100001", "a sequence has more than 100000 numbers");
}

/// The events after the anomaly cannot be predicted: the path of a predicted schedule ends
/// with it.
#[test]
fn a_clip_of_a_hunt_has_the_path_of_its_witness() {
    let subject = subject("lost_update.c");
    let ran = subject.norn(["hunt", "-o", "hunted", "--explore", "0", "--", "./subject"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let clips: Vec<_> = fs::read_dir(subject.file("hunted/clips")).unwrap().flatten().collect();
    assert!(!clips.is_empty(), "{ran:?}");
    for clip in clips {
        let clip = clip.path().display().to_string();
        let path = read(&subject, &clip)["path"].clone();
        // It begins and creates two threads, and has not joined them yet unless the anomaly is what it
        // reads afterwards.
        let first = &path["threads"][0];
        let events = first["events"].as_str().unwrap();
        assert_eq!(first["thread"], "T0", "{path}");
        assert!(["0 1*2", "0 1*2 (2 3)*2 4"].contains(&events), "{path}");
        let ran = subject.replay(&clip, &[]);
        assert!(ran.stderr.contains("norn: followed: "), "{ran:?}");
        assert!(!ran.stderr.contains("recorded path"), "{ran:?}");
    }
}
