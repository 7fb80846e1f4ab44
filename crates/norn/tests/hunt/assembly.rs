//! Accesses and synchronisation in assembly are not recorded. What such synchronisation may order is not
//! harmful, and the report names the instructions.

use std::{fs, process::Command};

use norn_e2e::tool::is_installed;
use tempfile::TempDir;

use crate::kit::{Ran, command, norn_hunt, run};

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
    assert!(ran.stdout.contains(" 0 confirmed ("), "{ran:?}");
}

/// Two threads count. The test provides the lock, and what they do without it.
const COUNT: &str = r"
#include <pthread.h>
static int counter, other;
static void *work(void *argument) {
    OUTSIDE;
    for (int i = 0; i < 2; i++) {
        lock();
        counter++;
        unlock();
    }
    return argument;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return counter != 4;
}
";

const SPIN_LOCK: &str = r#"
static int word;
static int exchange(int value) {
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(word) : : "memory");
    return value;
}
static void lock(void) { while (exchange(1)) __asm__ volatile("pause"); }
static void unlock(void) { exchange(0); }
"#;

const TICKET_LOCK: &str = r#"
static int next_ticket, owner;
static void lock(void) {
    int ticket = 1, now;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(ticket), "+m"(next_ticket) : : "memory");
    do __asm__ volatile("pause; movl %1, %0" : "=r"(now) : "m"(owner) : "memory");
    while (now != ticket);
}
static void unlock(void) { __asm__ volatile("lock incl %0" : "+m"(owner) : : "memory"); }
"#;

const LIBRARY: &str = "void lock(void); void unlock(void);";

const PUBLISH: &str = r#"
#include <pthread.h>
static int message, ready;
static void *consume(void *unused) {
    int now;
    do __asm__ volatile("pause; movl %1, %0" : "=r"(now) : "m"(ready) : "memory");
    while (!now);
    return message == 42 ? unused : &message;
}
int main(void) {
    pthread_t consumer;
    int one = 1;
    pthread_create(&consumer, 0, consume, 0);
    message = 42;
    __asm__ volatile("xchgl %0, %1" : "+r"(one), "+m"(ready) : : "memory");
    pthread_join(consumer, 0);
    return 0;
}
"#;

/// Compiles a program and hunts for races in it.
fn races(text: &str, [compiler, optimisation]: [&str; 2], more: &[&str], folder: &TempDir) -> Ran {
    fs::write(folder.path().join("subject.c"), text).unwrap();
    let mut build = command("cc");
    build.env("NORN_CC", compiler).current_dir(folder.path());
    build.args(["-g", optimisation, "-pthread", "subject.c", "-o", "subject"]).args(more);
    let built = run(build);
    assert!(built.status.success(), "{built:?}");
    let options = ["--only", "race", "--budget", "8", "--explore", "0", "--instances", "1", "--"];
    norn_hunt(options.into_iter().chain(["./subject"]), folder)
}

#[track_caller]
fn check_clean(text: &str, compiler: [&str; 2], reasons: &[&str]) {
    if !is_installed(compiler[0]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let ran = races(text, compiler, &[], &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("not counted as harmful, because"), "{ran:?}");
    assert!(reasons.iter().all(|it| ran.stdout.contains(it)), "{reasons:?}: {ran:?}");
}

fn count(locks: &str, outside: &str) -> String {
    format!("{locks}{}", COUNT.replace("OUTSIDE", outside))
}

#[test]
fn a_spin_lock_in_assembly_orders_accesses() {
    let reasons = ["`xchg` in exchange subject.c:4"];
    check_clean(&count(SPIN_LOCK, ""), ["gcc", "-O0"], &reasons);
    check_clean(&count(SPIN_LOCK, ""), ["clang-14", "-O2"], &reasons);
}

/// Of a long run only the accesses to shared memory are loaded. The lock is beside accesses that are not.
#[test]
fn a_spin_lock_in_assembly_orders_accesses_of_a_long_run() {
    let outside = "volatile int *mine = __builtin_calloc(3, sizeof *mine);
    for (int i = 0; i < 200000; i++) mine[0] = i";
    let counter = "mine[1] = 1; counter++; mine[2] = 1;";
    let text = count(SPIN_LOCK, outside).replace("counter++;", counter);
    check_clean(&text, ["gcc", "-O1"], &["`xchg` in exchange subject.c:4"]);
}

#[test]
fn a_ticket_lock_in_assembly_orders_accesses() {
    let reasons = ["`lock inc` in unlock subject.c:9", "`lock xadd` in lock subject.c:5"];
    check_clean(&count(TICKET_LOCK, ""), ["gcc", "-O2"], &reasons);
}

#[test]
fn an_exchange_that_publishes_a_message_orders_it() {
    let reasons = ["`xchg` in main subject.c:15 after", "`pause` in consume subject.c:6 before"];
    check_clean(PUBLISH, ["gcc", "-O2"], &reasons);
    check_clean(PUBLISH, ["clang-14", "-O0"], &reasons);
}

#[test]
fn a_lock_in_assembly_does_not_hide_a_race_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let ran = races(&count(SPIN_LOCK, "other++"), ["gcc", "-O2"], &[], &folder);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("1. data race on `other`"), "{ran:?}");
    assert!(!ran.stdout.contains(". data race on `counter`"), "{ran:?}");
}

#[test]
fn a_library_that_is_not_recorded_orders_accesses() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lock.c"), SPIN_LOCK.replace("static void", "void")).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O2", "-shared", "-fPIC", "lock.c", "-o", "liblock.so"]);
    assert!(gcc.current_dir(folder.path()).status().unwrap().success());
    let ran = races(&count(LIBRARY, ""), ["gcc", "-O2"], &["./liblock.so"], &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("`xchg` in exchange lock.c:4"), "{ran:?}");
}
