//! A run that was forced is a trace, too.

use std::fs;

use crate::kit::hunt;

/// The follower counts only if it sees the leader coming between its two looks. That is no failure;
/// but then two count, each in two critical sections, at places where one of them always was.
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
fn what_reads_something_new_is_predicted_from() {
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
