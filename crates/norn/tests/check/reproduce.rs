//! Violations count only if a replay of their clip violates the property as well.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{norn, subjects};

/// One thread closes, another one uses, and a lock keeps it from racing. What happens may depend on
/// whether the file `seen` does not exist yet.
fn folder(use_it: &str, main: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = format!(
        "#include <fcntl.h>\n#include <pthread.h>\n#include <unistd.h>\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int file, closed;\n\
         __attribute__((noinline)) void put(int *it) {{ *(volatile int *)it = 1; }}\n\
         __attribute__((noinline)) void shut(int *it) {{ *(volatile int *)it = 2; }}\n\
         static int fresh(void) {{ return open(\"seen\", O_CREAT | O_EXCL, 0600) >= 0; }}\n\
         static void *user(void *unused) {{\n  pthread_mutex_lock(&lock);\n  {use_it}\n  \
         pthread_mutex_unlock(&lock);\n  return unused;\n}}\n\
         static void *closer(void *unused) {{\n  pthread_mutex_lock(&lock);\n  closed = 1;\n  \
         shut(&file);\n  pthread_mutex_unlock(&lock);\n  return unused;\n}}\n\
         int main(void) {{\n  pthread_t one, two;\n  {main}\n  pthread_create(&one, 0, user, 0);\n  \
         pthread_create(&two, 0, closer, 0);\n  pthread_join(one, 0);\n  pthread_join(two, 0);\n  \
         (void)fresh;\n  return 0;\n}}\n"
    );
    fs::write(folder.path().join("subject.c"), program).unwrap();
    let property = "Late(f) {\n  event shut: call shut(f)\n  event put: call put(f)\n  \
                    pattern: shut put\n}\n";
    fs::write(folder.path().join("late.norn"), property).unwrap();
    folder
}

/// The report of a check, and its status.
fn check(folder: &TempDir) -> (Value, Option<i32>) {
    let words = ["check", "late.norn", "-j1", "--explore", "0", "--format", "json", "subject.c"];
    let ran = norn(words, folder);
    (ran.json(), ran.code)
}

fn statuses(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().filter_map(|it| it["status"].as_str()).collect()
}

#[test]
fn the_clip_of_a_violation_violates_the_property_again() {
    let folder = folder("put(&file);", "");
    let (report, code) = check(&folder);
    assert_eq!((code, &*statuses(&report)), (Some(1), &["confirmed"][..]), "{report}");
    assert_eq!(report["summary"]["replays"], 1, "{report}");
    let again = norn(["replay", "--format", "json", "run.norn/clips/1.json"], &folder);
    assert_eq!(again.code, Some(1), "{again:?}");
    let claim = &again.json()["run"]["claim"];
    assert_eq!((&claim["again"], &claim["class"]), (&true.into(), &"property".into()));
}

/// The first run that uses the closed file leaves a file, and later ones do not use it any more.
#[test]
fn a_violation_that_does_not_happen_again_does_not_count() {
    let folder = folder("if (!closed) put(&file);\n  else if (fresh()) put(&file);", "");
    let (report, code) = check(&folder);
    assert_eq!((code, &*statuses(&report)), (Some(0), &["not-reproducible"][..]), "{report}");
    assert_eq!(report["summary"]["not_reproducible"], 1, "{report}");
    assert_eq!(report["findings"][0]["harmful"], false, "{report}");
}

/// The recorded run violates the property, and no other run does.
#[test]
fn a_recorded_violation_that_does_not_happen_again_does_not_count() {
    let folder = folder("put(&file);", "if (fresh()) { shut(&file); put(&file); }");
    let (report, _) = check(&folder);
    let all = statuses(&report);
    assert!(all.contains(&"not-reproducible") && !all.contains(&"observed"), "{report}");
}

#[test]
fn violations_of_the_subjects_are_reproducible() {
    for name in ["use_after_close", "unsafe_iteration", "init_before_use"] {
        let folder = tempfile::tempdir().unwrap();
        let (property, source) = (name.replace('_', "-"), subjects().join(format!("{name}.c")));
        let words = ["check", &property, "--format", "json", source.to_str().unwrap()];
        let ran = norn(words, &folder);
        let report = ran.json();
        assert_eq!((ran.code, &report["summary"]["not_reproducible"]), (Some(1), &0.into()));
        assert!(report["summary"]["replays"].as_u64() > Some(0), "{report}");
    }
}
