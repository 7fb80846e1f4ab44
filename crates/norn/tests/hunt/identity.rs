//! Two bugs are two reports, also if the program ends in the same way: with the same exit status, or
//! in a deadlock.

use serde_json::Value;

use crate::kit::{hunt_text, norn_hunt, subjects};

/// Hunts in a subject for one class of bugs.
fn hunt(name: &str, class: &str, explore: &str) -> (Value, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let subject = subjects("identity").join(name);
    let options = ["--only", class, "--explore", explore, "--format", "json"];
    let ran = norn_hunt(options.into_iter().chain([subject.to_str().unwrap()]), &folder);
    let json = serde_json::from_str(&ran.stdout).unwrap_or_else(|it| panic!("{it}: {ran:?}"));
    (json, ran.code)
}

/// Failures that were only explored and are reported, by their consequences.
fn shown(json: &Value) -> Vec<String> {
    let observed = json["observed"].as_array().unwrap().iter();
    observed.filter(|it| it["shown"] == true).map(|it| it["consequence"].to_string()).collect()
}

#[test]
fn two_bugs_with_one_exit_status_are_two_reports() {
    let (predicted, code) = hunt("two_exits.c", "atomicity", "0");
    assert_eq!(code, Some(1));
    assert_eq!(predicted["summary"]["bugs"], 2, "{predicted:#}");
    // No candidate of this class is predicted: both failures are only observed.
    let (explored, code) = hunt("two_exits.c", "deadlock", "60");
    assert_eq!(code, Some(1));
    let exits = shown(&explored);
    assert_eq!(exits.len(), 2, "{explored:#}");
    assert_eq!(exits[0], exits[1]);
    // Both are predicted and observed, and reported once.
    let (both, _) = hunt("two_exits.c", "atomicity", "60");
    assert_eq!((&both["summary"]["bugs"], shown(&both).len()), (&2.into(), 0), "{both:#}");
}

#[test]
fn two_deadlocks_are_two_reports() {
    let (predicted, code) = hunt("two_deadlocks.c", "deadlock", "0");
    assert_eq!(code, Some(1));
    assert_eq!(predicted["summary"]["bugs"], 2, "{predicted:#}");
    let (explored, code) = hunt("two_deadlocks.c", "lifetime", "60");
    assert_eq!(code, Some(1));
    assert_eq!(shown(&explored), ["\"deadlock\"", "\"deadlock\""], "{explored:#}");
    let (both, _) = hunt("two_deadlocks.c", "deadlock", "60");
    assert_eq!((&both["summary"]["bugs"], shown(&both).len()), (&2.into(), 0), "{both:#}");
}

#[test]
fn the_fixed_twins_have_no_findings() {
    for (name, class) in [("two_exits_fixed.c", "atomicity"), ("two_deadlocks_fixed.c", "deadlock")]
    {
        let (json, code) = hunt(name, class, "20");
        assert_eq!((code, &json["summary"]["bugs"]), (Some(0), &0.into()), "{json:#}");
        assert!(json["observed"].as_array().unwrap().is_empty(), "{json:#}");
    }
}

/// A function that is inlined into six others, which two threads call.
const INLINED: &str = r"
#include <pthread.h>
static int hits;
static inline __attribute__((always_inline)) void hit(void) { hits = hits + 1; }
__attribute__((noinline)) static void a(void) { hit(); }
__attribute__((noinline)) static void b(void) { hit(); }
__attribute__((noinline)) static void c(void) { hit(); }
static void *work(void *unused) {
    a(), b(), c();
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
";

/// Nine pairs of call stacks lead to one race: each of its kinds is confirmed once.
#[test]
fn call_stacks_are_instances_of_one_finding() {
    let options = ["--only", "race", "--explore", "0", "--format", "json"];
    let (ran, _folder) = hunt_text(INLINED, &options);
    let json = ran.json();
    let findings = json["findings"].as_array().unwrap();
    assert!((1..=3).contains(&findings.len()), "{json:#}");
    for it in findings {
        assert_eq!((&it["harmful"], &it["bug"]), (&true.into(), &1.into()), "{it:#}");
        assert!(it["stacks"].as_u64() >= Some(6), "{it:#}");
        assert!(it["instances"].as_u64() >= it["stacks"].as_u64(), "{it:#}");
    }
    // The recorded run, and one for each kind.
    let executions = json["summary"]["executions"].as_u64().unwrap();
    assert!(executions <= 1 + findings.len() as u64, "{json:#}");
}

/// A text that becomes shorter between two reads is an atomicity violation and an order violation: one
/// run shows both.
#[test]
fn one_run_confirms_what_it_has_done_besides() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subjects("hunt").join("string_buffer.c").into_os_string();
    let options = ["--explore", "0", "--format", "json", "--"].map(Into::into);
    let json = norn_hunt(options.into_iter().chain([subject]), &folder).json();
    let findings = json["findings"].as_array().unwrap();
    let harmful: Vec<_> = findings.iter().filter(|it| it["harmful"] == true).collect();
    assert!(harmful.len() > 1, "{json:#}");
    let first = (&harmful[0]["clip"], &harmful[0]["executions"]);
    let classes: Vec<_> = harmful
        .iter()
        .filter(|it| (&it["clip"], &it["executions"]) == first)
        .map(|it| &it["class"])
        .collect();
    assert!(classes.len() > 1, "{classes:?}");
}
