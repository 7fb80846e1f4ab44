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

#[test]
fn a_killed_run_leaves_nothing() {
    let consequences = hunt("kill(getpid(), SIGKILL)");
    assert!(consequences.contains("signal"), "{consequences}");
}
