//! Read-write locks of libc that give precedence to writers.

use crate::kit::{Subject, subject, subject_with};

/// In how many random runs the threads wait for each other; each run replays.
fn deadlocks(subject: &Subject) -> usize {
    let is_deadlock = |seed: &u32| {
        let seed = seed.to_string();
        let ran = subject.run(&["--strategy", "random", "--seed", &seed, "--save", "clip.json"]);
        let replayed = subject.replay("clip.json", &["--times", "3"]);
        assert!(replayed.stdout.starts_with("3 of 3 runs are the same: "), "{ran:?} {replayed:?}");
        assert!(!replayed.stderr.contains("diverged"), "{ran:?} {replayed:?}");
        ran.stderr.contains("norn: deadlock")
    };
    (0..20).filter(is_deadlock).count()
}

/// A thread that reads twice waits for the writer that came in between, and the writer for it.
#[test]
fn a_reader_does_not_pass_a_writer_that_waits() {
    assert!(deadlocks(&subject("reread.c")) > 0);
}

#[test]
fn a_reader_passes_where_readers_have_precedence() {
    let flag = "-DKIND=PTHREAD_RWLOCK_PREFER_READER_NP";
    assert_eq!(deadlocks(&subject_with("reread.c", &[flag])), 0);
}
