//! Accesses in assembly are not recorded.

use std::fs;

use crate::kit::norn_hunt;

/// Assembly changes the pointer under a lock; threads that have read the old one no longer use it then.
const SWAP: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int old_value = 1, new_value = 2;
static int *current = &old_value;
static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int seen = *current;
    pthread_mutex_unlock(&lock);
    return seen == 0 ? unused : 0;
}
static void *change(void *unused) {
    int *it = &new_value;
    pthread_mutex_lock(&lock);
    __asm__ volatile("xchg %0, %1" : "+r"(it), "+m"(current));
    pthread_mutex_unlock(&lock);
    *it = -1;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, look, 0);
    pthread_create(&threads[1], 0, change, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn another_variable_at_the_same_address_is_not_a_race() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("swap.c"), SWAP).unwrap();
    let ran = norn_hunt(["--only", "race", "swap.c"], &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains(" 0 confirmed, "), "{ran:?}");
}
