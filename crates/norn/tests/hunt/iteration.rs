//! Candidates are also predicted from the traces of forced runs.

use std::fs;

use crate::kit::hunt;

/// The follower counts only if the leader's write falls between its two reads. That is not a failure; but
/// then two threads count, each in two critical sections, at places that only one thread reached before.
const FOLLOW: &str = r"
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long flag, counter, followed;
__attribute__((noinline)) static long get(long *from) {
    pthread_mutex_lock(&lock);
    long value = *from;
    pthread_mutex_unlock(&lock);
    return value;
}
__attribute__((noinline)) static void set(long *to, long value) {
    pthread_mutex_lock(&lock);
    *to = value;
    pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) static void count(void) {
    set(&counter, get(&counter) + 1);
}
static void *follow(void *unused) {
    long before = get(&flag), after = get(&flag);
    followed = before != after;
    if (before != after) count();
    return unused;
}
static void *lead(void *unused) {
    set(&flag, 1);
    count();
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, follow, NULL);
    pthread_create(&threads[1], NULL, lead, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(counter == 1 + followed);
    return 0;
}
";

#[test]
fn a_run_that_reads_a_new_value_is_predicted_from() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("follow.c");
    fs::write(&source, FOLLOW).unwrap();
    let hunt = hunt(&source, 0);
    let found: Vec<_> = hunt.harmful().collect();
    assert!(found.iter().any(|it| it["class"] == "atomicity"), "{:#}", hunt.json);
    for it in found {
        assert!(["atomicity", "order"].contains(&it["class"].as_str().unwrap()), "{it:#}");
        assert!(it["consequence"]["assertion"].is_string(), "{it:#}");
        assert_ne!(it["source"], 0, "{it:#}");
    }
}

/// In an undisturbed run the first worker does all jobs before the second one begins, so that its trace
/// does not have two workers at the books. The marks offer many harmless candidates.
const POOL: &str = r"
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
enum { JOBS = 12 };
static atomic_int next_job, marks[8];
static int books;
static void *work(void *unused) {
    while (atomic_fetch_add(&next_job, 1) < JOBS) books = books + 1;
    for (int i = 0; i < 8; i++) {
        switch (i) {
        case 0: marks[0] = marks[0] + 1; break;
        case 1: marks[1] = marks[1] + 1; break;
        case 2: marks[2] = marks[2] + 1; break;
        case 3: marks[3] = marks[3] + 1; break;
        case 4: marks[4] = marks[4] + 1; break;
        case 5: marks[5] = marks[5] + 1; break;
        case 6: marks[6] = marks[6] + 1; break;
        default: marks[7] = marks[7] + 1; break;
        }
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(books == JOBS);
    return 0;
}
";

#[test]
fn work_that_one_thread_did_is_predicted_from_when_two_do_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("pool.c");
    fs::write(&source, POOL).unwrap();
    let hunt = hunt(&source, 24);
    let mut races = hunt.harmful().filter(|it| it["class"] == "race");
    let race = races.find(|it| it["consequence"]["assertion"].is_string());
    assert!(race.is_some_and(|it| it["source"] != 0), "{:#}", hunt.json);
}

#[test]
fn a_hunt_explores_before_all_candidates_are_tried() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("pool.c");
    fs::write(&source, POOL).unwrap();
    let hunt = hunt(&source, 24);
    let candidates = hunt.findings().iter().filter(|it| it["source"] == 0).count() as u64;
    let seen = hunt.observed().iter().find(|it| it["finding"].is_null()).expect("a failure");
    let at = seen["executions"].as_u64().unwrap();
    assert!(at < candidates, "seen at {at}, {candidates} candidates\n{:#}", hunt.json);
}
