//! The ids of threads and random numbers are the same in every run with the same seed.

use crate::kit::subject;

#[test]
fn ids_of_threads_and_random_numbers_are_the_same_in_every_run() {
    let subject = subject("same_ids.c");
    let first = subject.run(&["--seed", "3", "--save", "clip.json"]);
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let mut ids: Vec<_> = first.stdout.lines().filter_map(|it| it.split(' ').next()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{first:?}");
    let second = subject.run(&["--seed", "3"]);
    assert_eq!(second.stdout, first.stdout, "{second:?}");
    let many = subject.replay("clip.json", &["--times", "20"]);
    assert!(many.stdout.contains("20 of 20 runs are the same"), "{many:?}");
    assert!(!many.stdout.contains("failed"), "{many:?}");
}

/// Threads that the first one creates have ids by their order among its children, whatever the schedule.
#[test]
fn another_schedule_has_the_same_ids_of_threads() {
    let subject = subject("same_ids.c");
    for seed in ["1", "2", "3", "4"] {
        let ran = subject.run(&["--seed", seed]);
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        for id in ["4194305 ", "4194306 "] {
            assert_eq!(ran.stdout.lines().filter(|it| it.starts_with(id)).count(), 1, "{ran:?}");
        }
    }
}
