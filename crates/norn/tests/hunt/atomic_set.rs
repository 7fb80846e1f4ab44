//! Atomic sets that the user declares.

use std::fs;

use serde_json::Value;

use crate::kit::{Ran, norn, norn_hunt};

/// A queue whose count and sum are changed in one critical section, with much in between, and read
/// in two.
const QUEUE: &str = r"
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { int count; int sum; } queue;
static long others[8];
static void *put(void *unused) {
    pthread_mutex_lock(&lock);
    queue.count++;
    for (int i = 0; i < 8; i++) others[i]++;
    queue.sum += 10;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int count = queue.count;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int sum = queue.sum;
    for (int i = 0; i < 8; i++) sum += others[i] - count;
    pthread_mutex_unlock(&lock);
    return sum == count * 10 ? unused : &queue;
}
int main(void) {
    pthread_t threads[2];
    void *torn;
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, put, NULL);
    pthread_join(threads[0], &torn);
    pthread_join(threads[1], NULL);
    return torn ? 1 : 0;
}
";

fn hunt(options: &[&str]) -> (Ran, Value) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("queue.c"), QUEUE).unwrap();
    let usual = ["--explore", "0", "--format", "json"];
    let ran = norn_hunt(usual.iter().chain(options).chain(&["queue.c"]), &folder);
    let json = serde_json::from_str(&ran.stdout).unwrap();
    (ran, json)
}

/// The variables of all atomic sets that were found.
fn sets(json: &Value) -> Vec<Vec<&str>> {
    let findings = json["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|it| it["class"] == "atomic-set");
    findings
        .map(|it| {
            let accesses = it["accesses"].as_array().unwrap().iter();
            let mut names: Vec<_> =
                accesses.map(|it| it["variable"]["name"].as_str().unwrap()).collect();
            names.sort_unstable();
            names.dedup();
            names
        })
        .collect()
}

#[test]
fn only_declared_sets_have_violations() {
    let (ran, json) = hunt(&["--atomic-set", "queue.count,queue.sum"]);
    let found = sets(&json);
    assert!(!found.is_empty(), "{json:#}");
    assert!(found.iter().all(|it| *it == ["queue.count", "queue.sum"]), "{found:?}");
    assert_eq!(ran.code, Some(1), "{json:#}");
}

#[test]
fn unknown_variables_are_reported() {
    let (_, json) = hunt(&["--atomic-set", "queue.count,queue.size"]);
    assert_eq!(json["not_looked_at"]["names"], serde_json::json!(["queue.size"]));
    assert!(sets(&json).is_empty(), "{json:#}");
}

#[test]
fn a_declared_set_has_candidates_in_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("queue.c"), QUEUE).unwrap();
    let built = norn("cc", ["-g", "-O1", "-pthread", "queue.c", "-o", "queue"], &folder);
    assert_eq!(built.code, Some(0), "{built:?}");
    norn("run", ["--strategy", "round-robin", "./queue"], &folder);
    let options = ["--atomic-set", "queue.count,queue.sum", "run.norn"];
    let ran = norn("predict", options, &folder);
    assert!(
        ran.stdout.contains(
            "atomic-set violation on `queue.count` and `queue.sum`: another thread's writes fall \
             between two reads\n"
        ),
        "{ran:?}"
    );
}

#[test]
fn a_set_needs_two_variables() {
    let folder = tempfile::tempdir().unwrap();
    let ran = norn_hunt(["--atomic-set", "queue", "queue.c"], &folder);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("expected at least two variables such as head,tail"), "{ran:?}");
}
