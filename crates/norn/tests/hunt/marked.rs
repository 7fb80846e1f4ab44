//! Atomic regions that the user declares: calls of a function, or a block.

use std::fs;

use crate::kit::norn_hunt;

/// Reads in one critical section and writes in the next.
const COUNTER: &str = r"
#undef NDEBUG
#include <assert.h>
#include <norn.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int get(void) {
    pthread_mutex_lock(&lock);
    int it = count;
    pthread_mutex_unlock(&lock);
    return it;
}
static void set(int it) {
    pthread_mutex_lock(&lock);
    count = it;
    pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) static void add(void) {
    BLOCK { set(get() + 1); }
}
static void *work(void *unused) {
    add();
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
";

/// The exit status of a hunt in which only declared regions are atomic.
fn code(block: &str, options: &[&str]) -> Option<i32> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter.c"), COUNTER.replace("BLOCK", block)).unwrap();
    let usual = ["--explore", "0", "--only", "atomicity", "--marked-only"];
    norn_hunt(usual.iter().chain(options).chain(&["counter.c"]), &folder).code
}

#[test]
fn without_a_declared_region_nothing_is_found() {
    assert_eq!(code("", &[]), Some(0));
}

#[test]
fn calls_of_a_declared_function_are_atomic() {
    assert_eq!(code("", &["--atomic-function", "add"]), Some(1));
    assert_eq!(code("", &["--atomic-function", "get"]), Some(0));
}

#[test]
fn a_marked_block_is_atomic() {
    assert_eq!(code("NORN_ATOMIC", &[]), Some(1));
}
