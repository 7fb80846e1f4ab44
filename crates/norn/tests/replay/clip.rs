//! Clips that `norn run` writes, and their replay.

use std::fs;

use crate::kit::{Subject, subject};

/// The first seed with which `norn run` prints this; it leaves a clip.
fn find(subject: &Subject, strategy: &str, said: &str) -> u32 {
    let fails = |seed: &u32| {
        let seed = seed.to_string();
        let chosen = ["--strategy", strategy, "--expected", "20", "--seed", &seed];
        subject.run(&[&chosen[..], &["--save", "clip.json"]].concat()).stderr.contains(said)
    };
    (0..50).find(fails).unwrap_or_else(|| panic!("no seed of {strategy} gives `{said}`"))
}

fn check(source: &str, strategy: &str, said: &str) {
    let subject = subject(source);
    find(&subject, strategy, said);
    for _ in 0..5 {
        let ran = subject.replay("clip.json", &["--timeout", "20"]);
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        assert!(ran.stderr.contains("norn: followed: "), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
}

#[test]
fn a_failed_assertion_fails_again() {
    check("lost_update.c", "random", "assertion failed: counter == 2");
    check("lost_update.c", "pos", "assertion failed: counter == 2");
}

#[test]
fn a_deadlock_happens_again() {
    check("two_locks.c", "random", "norn: deadlock");
    check("two_locks.c", "pct", "norn: deadlock");
}

#[test]
fn a_passing_run_passes_again() {
    let subject = subject("lost_update.c");
    let ran =
        subject.run(&["--strategy", "round-robin", "--quantum", "100", "--save", "clip.json"]);
    assert_eq!(ran.stdout, "both were counted\n");
    let ran = subject.replay("clip.json", &[]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "both were counted\n"), "{ran:?}");
}

/// The events have other addresses there, and the same lines.
#[test]
fn yielding_threads_yield_again() {
    let subject = subject("yields.c");
    for seed in ["1", "2", "3", "4"] {
        let ran = subject.run(&["--seed", seed, "--save", "clip.json"]);
        assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), "6\n"), "{ran:?}");
        let ran = subject.replay("clip.json", &[]);
        assert!(ran.stderr.contains("norn: followed: "), "seed {seed}: {ran:?}");
    }
}

#[test]
fn a_rebuilt_program_follows_the_clip() {
    let subject = subject("lost_update.c");
    find(&subject, "random", "assertion failed");
    subject.build(&["-O1"]);
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
}

#[test]
fn the_trace_of_a_replay_can_be_kept() {
    let subject = subject("two_locks.c");
    find(&subject, "random", "deadlock");
    let before = fs::read_dir(subject.folder.path()).unwrap().count();
    subject.replay("clip.json", &[]);
    assert_eq!(fs::read_dir(subject.folder.path()).unwrap().count(), before);
    subject.replay("clip.json", &["-o", "kept"]);
    assert!(subject.file("kept/run.json").exists());
}

/// The update cannot be lost any more, so the schedule cannot be followed. The absence of the failure
/// then proves nothing.
#[test]
fn a_repaired_program_cannot_follow_the_clip() {
    let subject = subject("lost_update.c");
    find(&subject, "random", "assertion failed");
    subject.edit(
        "static int counter;\n\nstatic void *add(void *arg) {\n    int seen = counter; // read\n    \
         counter = seen + 1; // write\n",
        "static int counter; static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\n\
         static void *add(void *arg) {\n    pthread_mutex_lock(&lock); int seen = counter; // read\n    \
         counter = seen + 1; pthread_mutex_unlock(&lock); // write\n",
    );
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    let left = ["norn: infeasible in ", "norn: diverged in "];
    assert!(left.iter().any(|it| ran.stderr.contains(it)), "{ran:?}");
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), "both were counted\n"), "{ran:?}");
    let ran = subject.replay("clip.json", &["--timeout", "20", "--times", "3", "-j2"]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
}

#[test]
fn a_program_without_the_events_of_the_clip_is_an_error() {
    let subject = subject("lost_update.c");
    find(&subject, "random", "assertion failed");
    subject.edit(
        "int seen = counter; // read\n    counter = seen + 1; // write",
        "__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);",
    );
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(3), ""), "{ran:?}");
    assert!(ran.stderr.contains("norn: the schedule cannot be followed: segment "), "{ran:?}");
}
