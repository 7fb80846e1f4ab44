//! Patterns of the user, from their text to a confirmed finding.

use std::fs;

use serde_json::Value;

use crate::kit::norn_hunt;

fn hunt(source: &str, options: &[&str], pattern: &str) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prog.c"), source).unwrap();
    fs::write(folder.path().join("my.pattern"), pattern).unwrap();
    let usual = ["--explore", "0", "--format", "json", "--pattern", "my.pattern"];
    let ran = norn_hunt(usual.iter().chain(options).chain(&["prog.c"]), &folder);
    let json = serde_json::from_str(&ran.stdout);
    (ran.code, json.unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}

fn confirmed<'a>(json: &'a Value, pattern: &str) -> Vec<&'a Value> {
    let findings = json["findings"].as_array().unwrap().iter();
    findings.filter(|it| it["kind"] == pattern && it["status"] == "confirmed").collect()
}

/// The first of three threads reads nothing yet, so in any serial order of the three one of them reads a
/// value; but not if each thread reads before the next one writes.
const RING: &str = r"
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t locks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                    PTHREAD_MUTEX_INITIALIZER };
static long x, y, z;
static long seen[3];
static void *first(void *unused) {
    pthread_mutex_lock(&locks[0]);
    seen[0] = x;
    z = 1;
    pthread_mutex_unlock(&locks[0]);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&locks[1]);
    x = 1;
    seen[1] = y;
    pthread_mutex_unlock(&locks[1]);
    return unused;
}
static void *third(void *unused) {
    pthread_mutex_lock(&locks[2]);
    y = 1;
    seen[2] = z;
    pthread_mutex_unlock(&locks[2]);
    return unused;
}
int main(void) {
    void *(*work[3])(void *) = { first, second, third };
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work[i], NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert(seen[0] || seen[1] || seen[2]);
    return 0;
}
";

const RING_PATTERN: &str = "
pattern ring
    t1 r x
    t2 w x
    t2 r y
    t3 w y
    t3 r z
    t1 w z
";

#[test]
fn a_pattern_of_three_threads_and_three_variables_is_confirmed() {
    let (code, json) = hunt(RING, &[], RING_PATTERN);
    let found = confirmed(&json, "ring");
    assert!(!found.is_empty(), "{json:#}");
    for it in &found {
        assert_eq!(it["class"], "pattern");
        assert!(it["consequence"]["assertion"].is_string(), "{it:#}");
        let threads = it["accesses"].as_array().unwrap().iter().map(|it| &it["thread"]);
        assert_eq!(threads.collect::<Vec<_>>(), ["T0.1", "T0.2", "T0.2", "T0.3", "T0.3", "T0.1"]);
    }
    assert_eq!(code, Some(1));
}

/// With one lock for all three there is no such order.
#[test]
fn one_lock_makes_the_pattern_infeasible() {
    let source = RING.replace("&locks[1]", "&locks[0]").replace("&locks[2]", "&locks[0]");
    let (code, json) = hunt(&source, &[], RING_PATTERN);
    assert!(confirmed(&json, "ring").is_empty(), "{json:#}");
    assert_eq!(code, Some(0), "{json:#}");
}

/// Each thread sets its variable to the other's plus one. If neither sees the other's write, both are equal.
const LEAPFROG: &str = r"
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static long frogs[2];
static void leap(int me) {
    pthread_mutex_lock(&locks[me]);
    frogs[me] = frogs[!me] + 1;
    pthread_mutex_unlock(&locks[me]);
}
static void *one(void *unused) { return leap(0), unused; }
static void *other(void *unused) { return leap(1), unused; }
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(frogs[0] != frogs[1]);
    return 0;
}
";

#[test]
fn write_skew_is_confirmed() {
    let (code, json) = hunt(LEAPFROG, &[], "");
    assert_eq!(code, Some(1), "{json:#}");
    let harmful = json["findings"].as_array().unwrap().iter().filter(|it| it["harmful"] == true);
    let skewed = harmful.filter(|it| it["kind"].as_str().unwrap().starts_with("write-skew"));
    assert!(skewed.count() > 0, "{json:#}");
}
