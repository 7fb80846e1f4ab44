//! Tests of spin detection on the events of one thread.

use super::*;

/// What a thread sees that reads a value at a code location.
fn read(pc: usize, value: u64) -> Sight {
    let event = Event { kind: Kind::Read8, object: 0x1000, pc };
    Sight { event, value, effect: false }
}

/// A thread that acquires or releases a lock, after an event with or without an effect.
fn lock(kind: Kind, effect: bool) -> Sight {
    let event = Event { kind, object: 0x2000, pc: usize::from(kind.code()) };
    Sight { event, value: 0, effect }
}

/// Lets a thread read `values` in turn at one code location each, and returns after how many
/// events it is found spinning.
fn spins_after(values: impl Fn(u64) -> (usize, u64), most: u64) -> Option<u64> {
    let mut watch = SpinWatch::NEW;
    (0..most).find(|&quiet| {
        if watch.is_suspicious(quiet, quiet) {
            let (place, value) = values(quiet);
            watch.observe(read(place, value), 1);
        }
        watch.spins(1)
    })
}

/// Whether a thread that repeats these events is found spinning.
fn spins(round: &[Sight]) -> bool {
    let mut watch = SpinWatch::NEW;
    watch.watched = true;
    for seen in round.iter().cycle().take(10 * round.len()) {
        watch.observe(*seen, 1);
    }
    watch.spins(1)
}

#[test]
fn a_loop_over_the_same_values_spins_after_a_few_rounds() {
    let after = spins_after(|quiet| (8 + usize::try_from(quiet % 3).unwrap(), 0), 2000);
    // Watched from event 256 on; the first round has no predecessor to compare with.
    assert_eq!(after, Some(256 + 3 * (u64::from(ROUNDS) + 1)));
}

#[test]
fn a_loop_that_sees_new_values_does_not_spin() {
    assert_eq!(spins_after(|quiet| (8, quiet), 20_000), None);
}

#[test]
fn a_round_that_is_too_long_is_not_recognised() {
    let long = LONGEST_ROUND as u64 + 1;
    let place = |quiet: u64| (usize::try_from(quiet % long).unwrap(), 0);
    assert_eq!(spins_after(place, 20_000), None);
}

#[test]
fn a_change_by_another_thread_ends_the_spin() {
    let mut watch = SpinWatch::NEW;
    watch.watched = true;
    (0..8).for_each(|_| watch.observe(read(1, 0), 5));
    assert!(watch.spins(5) && watch.is_idle(5));
    assert!(!watch.spins(6) && !watch.is_idle(6));
    watch.yields();
    assert!(watch.is_idle(6));
}

#[test]
fn another_event_ends_the_spin_before_it_is_executed() {
    let mut watch = SpinWatch::NEW;
    watch.watched = true;
    (0..8).for_each(|_| watch.observe(read(1, 0), 5));
    watch.observe(read(1, 7), 5);
    assert!(!watch.spins(5) && !watch.repeats());
}

#[test]
fn a_loop_that_releases_its_lock_in_each_round_spins() {
    let round = [lock(Kind::Acquire, true), lock(Kind::Release, true), read(8, 0)];
    assert!(spins(&round));
    // An attempt that fails has no effect, so there is nothing to release.
    assert!(spins(&[lock(Kind::Acquire, false), read(8, 0)]));
}

#[test]
fn a_loop_that_keeps_what_it_acquires_does_not_spin() {
    let keeps = [lock(Kind::Acquire, false), read(8, 0)];
    let mut kept = keeps;
    kept[1].effect = true;
    assert!(!spins(&kept));
}

#[test]
fn a_loop_that_posts_a_semaphore_does_not_spin() {
    assert!(!spins(&[lock(Kind::SemPost, true), read(8, 0)]));
}

#[test]
fn a_thread_with_effects_is_watched_too_but_later() {
    let mut watch = SpinWatch::NEW;
    let begun = (0..10_000).find(|&steps| watch.is_suspicious(0, steps));
    assert_eq!(begun, Some(BUSY));
    let ended = (BUSY + 1..10_000).find(|&steps| !watch.is_suspicious(0, steps));
    assert_eq!(ended, Some(BUSY + WATCHED));
}

#[test]
fn watching_in_vain_makes_it_wait_longer() {
    let mut watch = SpinWatch::NEW;
    let mut begun = Vec::new();
    let mut before = false;
    for quiet in 0..200_000 {
        // The number of steps stays low, so that it is not watched for being busy.
        let watched = watch.is_suspicious(quiet, 0);
        if watched && !before {
            begun.push(quiet);
        }
        before = watched;
    }
    let gaps: Vec<_> = begun.windows(2).map(|it| it[1] - it[0] - WATCHED).collect();
    assert_eq!(gaps[..5], [512, 1024, 2048, 4096, 8192]);
    assert!(gaps[6..].iter().all(|it| *it == MOST_PATIENT));
}

#[test]
fn an_effect_of_its_own_ends_the_watching() {
    let mut watch = SpinWatch::NEW;
    assert!((0..300).map(|quiet| watch.is_suspicious(quiet, quiet)).last().unwrap());
    assert!(!watch.is_suspicious(2, 300));
}
