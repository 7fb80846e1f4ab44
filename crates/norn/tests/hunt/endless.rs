//! Hunts whose forced runs do not end, or are killed: each is cut, and nothing is left of it.

use std::fs;

use crate::kit::{command, run, source_folder};

/// The first thread usually stores before the other one reads.
const PROGRAM: &str = "
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static volatile long rounds;

static void *use(void *argument) {
    if (!ready) OTHERWISE;
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    ready = 1;
    pthread_join(thread, NULL);
    return 0;
}
";

/// Hunts in the program, and returns the consequences of its findings.
#[track_caller]
fn hunt(otherwise: &str) -> String {
    let folder = source_folder("subject.c", &PROGRAM.replace("OTHERWISE", otherwise));
    let temporary = folder.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut command = command("hunt");
    let options = ["--explore", "0", "--budget", "8", "--format", "json", "subject.c"];
    command.args(options).current_dir(folder.path()).env("TMPDIR", &temporary);
    let ran = run(command);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
    let json = ran.json();
    json["findings"].as_array().unwrap().iter().map(|it| it["consequence"].to_string()).collect()
}

#[test]
fn an_endless_run_is_cut() {
    let consequences =
        hunt("for (;;) { pthread_mutex_lock(&lock); rounds++; pthread_mutex_unlock(&lock); }");
    assert!(consequences.contains(r#"{"unfinished":{"steps":4000000}}"#), "{consequences}");
}

/// Two threads count forever, one of them without the lock.
const FOREVER: &str = "
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static void *count(void *argument) {
    for (;;) {
        if (argument) pthread_mutex_lock(&lock);
        rounds++;
        if (argument) pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, count, &lock);
    count(NULL);
    return 0;
}
";

#[test]
fn a_program_that_never_ends_is_recorded_up_to_a_limit() {
    let folder = source_folder("subject.c", FOREVER);
    let mut command = command("hunt");
    let options =
        ["--timeout", "3", "--explore", "0", "--budget", "5", "--format", "json", "subject.c"];
    command.args(options).current_dir(folder.path());
    let ran = run(command);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let json = ran.json();
    assert!(json["run"]["events"].as_u64().unwrap() < 200_000, "{}", json["run"]);
    assert_eq!(json["findings"][0]["class"], "race", "{json}");
}

/// The same for a program that ends, but not in the part of the time that the recorded run gets.
#[test]
fn a_long_run_is_cut_in_a_short_hunt() {
    let program = FOREVER.replace("for (;;)", "for (int i = 0; i < 400000; i++)");
    let folder = source_folder("subject.c", &program);
    let mut command = command("hunt");
    let options =
        ["--time", "5s", "--explore", "0", "--budget", "5", "--format", "json", "subject.c"];
    command.args(options).current_dir(folder.path());
    let ran = run(command);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let json = ran.json();
    let events = json["run"]["events"].as_u64().unwrap();
    assert!(events < 200_000, "{}", json["run"]);
    // On a busy machine, the time may also be over before the hunt is, which another note says.
    let notes = json["notes"].as_array().unwrap();
    let prefix = notes.iter().map(|it| &it["prefix"]["events"]).find(|it| !it.is_null());
    assert_eq!(prefix, Some(&json["run"]["events"]), "{notes:?}");
    assert_eq!(json["findings"][0]["class"], "race", "{json}");
}

#[test]
fn a_killed_run_leaves_nothing() {
    let consequences = hunt("kill(getpid(), SIGKILL)");
    assert!(consequences.contains("signal"), "{consequences}");
}
