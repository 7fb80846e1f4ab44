//! Clips as regression tests: `norn replay --expect`.

use std::fs;

use tempfile::TempDir;

use crate::kit::{Ran, norn, run};

/// Two threads add to a total, which may lose one of the sums.
const RACY: &str = "\
#undef NDEBUG
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    int seen = total;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    total = seen + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(total == 2);
    return 0;
}
";

/// The critical section between reading and writing.
const GAP: &str = "    pthread_mutex_unlock(&lock);\n    pthread_mutex_lock(&lock);\n    total";

fn build(folder: &TempDir, text: &str) {
    fs::write(folder.path().join("total.c"), text).unwrap();
    let words = ["cc", "-g", "-O1", "-pthread", "-o", "total", "total.c"];
    assert!(run(norn(words, folder.path())).status.success());
}

/// A folder with the clip of the lost update.
fn hunted() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    build(&folder, RACY);
    let words = ["hunt", "--explore", "0", "--stop-at-first", "--", "./total"];
    let ran = run(norn(words, folder.path()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    folder
}

fn replay(folder: &TempDir, expect: &str) -> Ran {
    run(norn(["replay", "--expect", expect, "run.norn/clips/1.json"], folder.path()))
}

#[test]
fn a_bug_is_there_and_then_fixed() {
    let folder = hunted();
    let fails = replay(&folder, "fails");
    assert_eq!(fails.code, Some(0), "{fails:?}");
    let fixed = replay(&folder, "fixed");
    assert_eq!(fixed.code, Some(1), "{fixed:?}");
    assert!(fixed.stderr.contains("norn: not fixed: it happened again"), "{fixed:?}");

    build(&folder, &RACY.replace(GAP, "    total"));
    let fixed = replay(&folder, "fixed");
    assert_eq!(fixed.code, Some(0), "{fixed:?}");
    assert!(fixed.stderr.contains("norn: fixed: the failure did not happen"), "{fixed:?}");
    // It says how the program left the path.
    assert!(fixed.stderr.contains("in segment "), "{fixed:?}");
    assert_eq!(replay(&folder, "fails").code, Some(1));
}

#[test]
fn a_clip_survives_edits_elsewhere() {
    let folder = hunted();
    let above = "/* Totals. */\nstatic int unused_helper(int n) {\n    return n + 1;\n}\n\nstatic int total;";
    build(&folder, &RACY.replace("static int total;", above));
    let ran = replay(&folder, "fails");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("lines of the clip have moved, and were found again"), "{ran:?}");
    assert!(ran.stderr.contains("norn: as expected: it happened again"), "{ran:?}");
}

#[test]
fn a_clip_says_when_it_cannot_be_followed_any_more() {
    let folder = hunted();
    let other = RACY.replace("total = seen + 1;", "__sync_fetch_and_add(&total, 1);");
    build(&folder, &other.replace("int seen = total;", "int seen = 0; (void)seen;"));
    for expect in ["fixed", "fails"] {
        let ran = replay(&folder, expect);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("are not in its source any more: total.c:"), "{ran:?}");
    }
}

#[test]
fn an_expectation_is_about_one_replay() {
    let folder = hunted();
    for other in [&["--times", "2"][..], &["--gdb"]] {
        let words = [&["replay", "--expect", "fixed"], other, &["run.norn/clips/1.json"]].concat();
        let ran = run(norn(words, folder.path()));
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}

#[test]
fn a_clip_is_shown_without_running_anything() {
    let folder = hunted();
    fs::remove_file(folder.path().join("total")).unwrap();
    let ran = run(norn(["show", "run.norn/clips/1.json"], folder.path()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("total = 1"), "{ran:?}");
    assert!(ran.stdout.contains("\nthe schedule: "), "{ran:?}");
    assert!(ran.stdout.contains("and is held back"), "{ran:?}");
    let step = run(norn(["show", "--step", "run.norn/clips/1.json"], folder.path()));
    assert_eq!(step.code, Some(2), "{step:?}");
    assert!(step.stderr.contains("is not a terminal"), "{step:?}");
}
