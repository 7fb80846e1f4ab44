//! Programs whose normal exit status is not 0.

use serde_json::json;

use crate::kit::{Hunt, hunt_text};

/// Two threads count under a lock; how the program ends is left open.
fn counter(end: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int count;\n\
         static atomic_int loose;\n\
         static void *add(void *unused) {{\n  pthread_mutex_lock(&lock);\n  count++;\n\
         pthread_mutex_unlock(&lock);\n  int seen = atomic_load(&loose);\n\
         atomic_store(&loose, seen + 1);\n  return unused;\n}}\n\
         int main(void) {{\n  pthread_t one, two;\n  pthread_create(&one, 0, add, 0);\n\
         pthread_create(&two, 0, add, 0);\n  pthread_join(one, 0);\n  pthread_join(two, 0);\n\
         {end}\n}}\n"
    )
}

/// The report of a hunt in a program that ends like that.
fn hunt(end: &str, options: &[&str]) -> Hunt {
    let usual = ["--explore", "8", "--format", "json"];
    Hunt::read(&hunt_text(&counter(end), &[&usual, options].concat()).0)
}

#[test]
fn a_status_that_every_run_has_is_normal() {
    for (end, status) in [("return count + 1;", 3), ("exit(-1);", 255), ("_Exit(count);", 2)] {
        let hunt = hunt(end, &[]);
        assert_eq!((hunt.code, hunt.is_clean()), (Some(0), true), "{end}: {hunt:?}");
        assert_eq!(hunt.json["notes"], json!([{ "normal-status": status }]), "{end}: {hunt:?}");
        assert_eq!(hunt.json["run"]["consequence"], "none", "{end}: {hunt:?}");
        assert_eq!(hunt.observed().len(), 0, "{end}: {hunt:?}");
    }
}

#[test]
fn the_normal_status_is_named_once() {
    let (ran, _folder) = hunt_text(&counter("return 3;"), &["--explore", "0"]);
    let note = "every run ended with exit status 3, which therefore counts as normal";
    assert_eq!(ran.stdout.matches(note).count(), 1, "{ran:?}");
    assert!(!ran.stdout.contains("no run passed"), "{ran:?}");
}

/// A lost update changes the status, which is a result of this program.
#[test]
fn another_status_than_the_normal_one_is_a_difference() {
    let end = "return 1 + atomic_load(&loose);";
    let hunted = hunt(end, &[]);
    assert_eq!((hunted.code, hunted.is_clean()), (Some(0), true), "{hunted:?}");
    let other = |it: &&serde_json::Value| it["other_status"] == 2 && it["other_output"] == true;
    assert!(hunted.findings().iter().any(|it| other(&it)), "{hunted:?}");
    assert_eq!(hunt(end, &["--fail-on", "output"]).code, Some(1));
    let (ran, _folder) = hunt_text(&counter(end), &["--explore", "0"]);
    assert!(ran.stdout.contains(", exit status 2: norn replay "), "{ran:?}");
}

/// The status of a program that can end with 0 is a failure, as ever.
#[test]
fn an_error_status_of_a_program_that_can_pass_is_a_failure() {
    let hunt = hunt("return atomic_load(&loose) != 2;", &[]);
    assert_eq!(hunt.code, Some(1), "{hunt:?}");
    assert!(hunt.harmful().any(|it| it["consequence"]["exit"] == 1), "{hunt:?}");
    assert_eq!(hunt.json["notes"], json!([]));
}

#[test]
fn a_crash_is_never_normal() {
    for end in ["abort();", "return *(volatile int *)8;"] {
        let hunt = hunt(end, &[]);
        assert_eq!((hunt.code, hunt.json["notes"] == json!([])), (Some(1), true), "{hunt:?}");
        assert!(hunt.reproducible().next().is_some(), "{hunt:?}");
    }
}
