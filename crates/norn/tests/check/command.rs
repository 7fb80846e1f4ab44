//! The commands around properties: exit statuses, mistakes, forecasts.

use std::fs;

use serde_json::Value;

use crate::kit::{build, norn, subjects};

const WRONG: &str = "P(c) {\n  event use: call use(c)\n  pattern: usse\n}\n";

#[test]
fn an_invalid_property_is_reported_and_nothing_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("wrong.norn"), WRONG).unwrap();
    for words in [
        &["check", "wrong.norn", "--", "./no-such-program"][..],
        &["property", "lint", "wrong.norn"],
        &["predict", "no-such-trace", "--property", "wrong.norn"],
    ] {
        let ran = norn(words, &folder);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(ran.stderr, @r"
            error: there is no event `usse`
             --> wrong.norn:3:12
              |
            3 |   pattern: usse
              |            ^^^^
              = hint: did you mean `use`?
            ");
        }
    }
}

#[test]
fn properties_that_do_not_exist_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for words in [&["check", "no-such-property", "--", "true"][..], &["property", "show", "x"]] {
        let ran = norn(words, &folder);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("no built-in property"), "{ran:?}");
    }
}

#[test]
fn built_in_properties_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let listed = norn(["property", "list"], &folder);
    let names: Vec<_> = listed.stdout.lines().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(names.len(), 10);
    for name in names {
        let shown = norn(["property", "show", name], &folder);
        assert_eq!(shown.code, Some(0));
        let file = format!("{name}.copy");
        fs::write(folder.path().join(&file), shown.stdout).unwrap();
        let lint = norn(["property", "lint", &file], &folder);
        assert_eq!((lint.code, lint.stderr.as_str()), (Some(0), ""), "{name}");
    }
}

/// The documentation shows the built-in properties as they are in their files.
#[test]
fn built_in_properties_are_documented() {
    let root = subjects().join("../..");
    let text = fs::read_to_string(root.join("docs/properties.md")).unwrap();
    for property in fs::read_dir(root.join("properties")).unwrap() {
        let property = fs::read_to_string(property.unwrap().path()).unwrap();
        assert!(text.contains(&property), "docs/properties.md lacks:\n{property}");
    }
}

/// A trace suffices to report violations of the recorded run and to predict others.
#[test]
fn violations_are_predicted_from_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    build(&subjects().join("use_after_close.c"), &folder);
    let words =
        ["run", "--strategy", "round-robin", "--function", "connection_*", "--", "./subject"];
    let ran = norn(words, &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let property = ["predict", "run.norn", "--property", "use-after-close", "--format", "json"];
    let forecast: Value = serde_json::from_str(&norn(property, &folder).stdout).unwrap();
    let statuses: Vec<_> =
        forecast["findings"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, ["untried"]);
    assert!(forecast["findings"][0]["schedule"]["turns"][0]["thread"].is_string(), "{forecast}");
    let text = norn(&property[..4], &folder);
    assert!(
        text.stdout.contains("property `UseAfterClose` violated for f = `connection`"),
        "{text:?}"
    );
}

/// A violation of the recorded run is reported with a clip.
#[test]
fn a_violation_of_the_recorded_run_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let property = "Twice(c) {
      event open: call connection_open(c)
      pattern: open open
    }";
    fs::write(folder.path().join("twice.norn"), property).unwrap();
    let subject = subjects().join("use_after_close.c");
    let ran = norn(["check", "twice.norn", subject.to_str().unwrap()], &folder);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    insta::assert_snapshot!(ran.stdout, @r"
    1. property `Twice` violated for c = `connection`
       T0     open  calls  connection_open  main use_after_close.c:47
       T0.2   open  calls  connection_open  renew use_after_close.c:40
       the recorded run does this
       reproduce: norn replay run.norn/clips/1.json

    1 property with 1 instance in 21 events of 3 threads: 1 violation recorded, 0 confirmed; 0 infeasible, 0 not confirmed, 0 not tried; 1 execution and 1 replay
    ");
    assert!(folder.path().join("run.norn/clips/1.json").exists());
}

/// An event that never occurs is reported: its name may be wrong.
#[test]
fn events_that_never_occur_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let property = "Never(c) {
      event open: call connection_open(c)
      event shut: call connection_shut(c)
      pattern: shut open
    }";
    fs::write(folder.path().join("never.norn"), property).unwrap();
    let subject = subjects().join("use_after_close.c");
    let ran = norn(["check", "never.norn", subject.to_str().unwrap()], &folder);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("Never: never seen in the recorded run: shut"), "{ran:?}");
}

/// Many equivalent events: text and JSON report that not all were tried.
#[test]
fn omitted_events_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <pthread.h>
      __attribute__((noinline)) void step(int *it) { (void)*(volatile int *)it; }
      __attribute__((noinline)) void last(int *it) { (void)*(volatile int *)it; }
      static int object;
      static void *other(void *unused) { for (int i = 0; i < 9; i++) step(&object); return unused; }
      int main(void) {
        pthread_t thread;
        last(&object);
        pthread_create(&thread, 0, other, 0);
        pthread_join(thread, 0);
      }";
    let property = "Steps(o) {
      event step: call step(o)
      event last: call last(o)
      pattern: step step last
    }";
    fs::write(folder.path().join("program.c"), program).unwrap();
    fs::write(folder.path().join("steps.norn"), property).unwrap();
    let ran = norn(["check", "steps.norn", "program.c"], &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = ran.stdout.lines().next().unwrap();
    insta::assert_snapshot!(line, @"Steps: the search is incomplete: of similar events only the first 4 (15 choices left out)");
    let ran = norn(["check", "steps.norn", "--format", "json", "program.c"], &folder);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    insta::assert_snapshot!(json["properties"][0]["left_out"], @r#"{"alike":15,"instances":false,"steps":false,"text":"of similar events only the first 4 (15 choices left out)","untried":0,"ways":0}"#);
    // A small trace has no omissions.
    let subject = subjects().join("use_after_close_fixed.c");
    let words = ["check", "use-after-close", "--format", "json", subject.to_str().unwrap()];
    let json: Value = serde_json::from_str(&norn(words, &folder).stdout).unwrap();
    assert_eq!(json["properties"][0]["left_out"], Value::Null);
}
