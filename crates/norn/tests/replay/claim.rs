//! Clips hold what they claim, and a replay says whether it is true again, even if nothing fails.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{Ran, norn, run};

/// Two threads access `x`, and nothing fails.
fn program(access: [&str; 2]) -> String {
    format!(
        "#include <pthread.h>\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         static volatile int x;\n\
         static void *one(void *unused) {{\n  {}\n  return unused;\n}}\n\
         static void *two(void *unused) {{\n  {}\n  return unused;\n}}\n\
         int main(void) {{\n  pthread_t a, b;\n  pthread_create(&a, 0, one, 0);\n  \
         pthread_create(&b, 0, two, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n  \
         (void)lock;\n  return 0;\n}}\n",
        access[0], access[1]
    )
}

fn build(folder: &TempDir, text: &str, flag: &str) {
    fs::write(folder.path().join("subject.c"), text).unwrap();
    let words = ["cc", "-g", flag, "-pthread", "-o", "subject", "subject.c"];
    assert!(run(norn(words, folder.path())).status.success());
}

/// Hunts for races in a program. Returns the folder and the number of clips.
fn hunted(text: &str) -> (TempDir, usize) {
    let folder = tempfile::tempdir().unwrap();
    build(&folder, text, "-O1");
    let words = ["hunt", "--explore", "0", "--only", "race", "--", "./subject"];
    let ran = run(norn(words, folder.path()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let clips = fs::read_dir(folder.path().join("run.norn/clips")).unwrap().count();
    (folder, clips)
}

fn replay(folder: &TempDir, options: &[&str]) -> Ran {
    let words = [&["replay"], options, &["run.norn/clips/1.json"]].concat();
    run(norn(words, folder.path()))
}

#[test]
fn a_race_without_any_effect_happens_again() {
    for access in [["x = 1;", "x = 1;"], ["x = 1;", "(void)x;"], ["x++;", "x++;"]] {
        let (folder, clips) = hunted(&program(access));
        assert!(clips > 0);
        let once = replay(&folder, &[]);
        assert_eq!(once.code, Some(1), "{once:?}");
        assert!(once.stderr.contains("norn: no failure ("), "{once:?}");
        assert!(once.stderr.contains("norn: it happened again: data race on `x`\n"), "{once:?}");
        let often = replay(&folder, &["--times", "3"]);
        assert_eq!(often.code, Some(1), "{often:?}");
        assert!(often.stdout.contains("norn: it happened again: data race on `x`\n"), "{often:?}");
    }
}

#[test]
fn a_clip_holds_its_claim() {
    let (folder, _) = hunted(&program(["x = 1;", "(void)x;"]));
    let text = fs::read_to_string(folder.path().join("run.norn/clips/1.json")).unwrap();
    let clip: Value = serde_json::from_str(&text).unwrap();
    let claim = &clip["claim"];
    assert_eq!((&clip["norn"], &claim["class"]), (&6.into(), &"race".into()), "{clip}");
    assert_eq!(claim["title"], "data race on `x`", "{clip}");
    let mut places: Vec<_> =
        claim["events"].as_array().unwrap().iter().map(|it| it["at"].as_str().unwrap()).collect();
    places.sort_unstable();
    assert_eq!(places, ["read subject.c:9 in two", "write subject.c:5 in one"], "{clip}");
    let report = replay(&folder, &["--format", "json"]).json();
    assert_eq!(report["run"]["claim"]["again"], true, "{report}");
    assert_eq!(report["exit"]["code"], 1, "{report}");
}

/// With a lock around both accesses, they are ordered, whatever the schedule.
#[test]
fn a_repaired_race_does_not_happen_again() {
    let lock = |it: &str| format!("pthread_mutex_lock(&lock); {it} pthread_mutex_unlock(&lock);");
    let (folder, _) = hunted(&program(["x = 1;", "(void)x;"]));
    build(&folder, &program([&lock("x = 1;"), &lock("(void)x;")]), "-O1");
    let ran = replay(&folder, &["--timeout", "20"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    assert!(!ran.stderr.contains("it happened again"), "{ran:?}");
    assert!(ran.stderr.contains("it did not happen again: data race on `x`"), "{ran:?}");
}

/// Places are found by line and function in another build.
#[test]
fn a_race_happens_again_in_another_build() {
    let text = program(["x = 1;", "(void)x;"]);
    let (folder, _) = hunted(&text);
    build(&folder, &text, "-O0");
    let ran = replay(&folder, &["--timeout", "20"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("it happened again: data race on `x`"), "{ran:?}");
}

/// A claim that is not a bug by itself does not fail the replay.
#[test]
fn a_harmless_finding_happens_again() {
    let folder = tempfile::tempdir().unwrap();
    let lock = |it: &str| format!("pthread_mutex_lock(&lock); {it} pthread_mutex_unlock(&lock);");
    build(&folder, &program([&lock("x = 1;"), &lock("(void)x;")]), "-O1");
    let hunt = run(norn(["hunt", "--explore", "0", "--", "./subject"], folder.path()));
    assert_eq!(hunt.code, Some(0), "{hunt:?}");
    let ran = replay(&folder, &["--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let claim = &ran.json()["run"]["claim"];
    assert!(claim.is_null() || claim["harmful"] == false, "{ran:?}");
}
