//! The recorded order is the actual order.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    event::Event,
    kit::{record, subject, values},
};

fn check_locked(events: &[Event]) {
    let inside = |it: &&Event| it.site_function() == "add";
    let add: Vec<Event> = events.iter().filter(inside).cloned().collect();
    assert!(values(&add, "read", "total").into_iter().eq(0..10_000));
    assert!(values(&add, "write", "total").into_iter().eq(1..=10_000));
}

#[test]
fn accesses_under_a_lock_are_ordered() {
    check_locked(&record("locked.c").events());
}

/// The accesses between an acquire and a release belong to the place of the acquire in the order.
#[test]
fn sequence_numbers_of_a_lock_are_ordered() {
    let events = record("locked.c").events();
    let mut held: Vec<(u64, u128)> = Vec::new();
    let mut acquired = BTreeMap::new();
    for event in events.iter() {
        match &*event.op {
            "acquire" => drop(acquired.insert(&event.thread, event.seq.unwrap())),
            "write" if event.variable() == "total" => {
                held.push((acquired[&event.thread], event.value.unwrap().0));
            }
            _ => {}
        }
    }
    held.sort_unstable();
    assert!(held.into_iter().map(|(_, value)| value).eq(1..=10_000));
}

/// Threads that use different locks take their numbers without contention.
#[test]
fn accesses_under_many_locks_are_ordered() {
    let events = record("interwoven.c").events();
    let mut counts = BTreeMap::<&str, u128>::new();
    for event in events.iter().filter(|it| it.site_function() == "add") {
        let count = counts.entry(event.object.as_deref().unwrap()).or_default();
        assert_eq!(event.value.unwrap().0, *count, "{event:?}");
        if event.op == "read" {
            *count += 1;
        }
    }
    assert_eq!(counts.len(), 32);
}

fn tickets(events: &[Event]) -> Vec<u128> {
    let taken = events.iter().filter(|it| it.is("atomic-rmw", "next"));
    let mut taken: Vec<_> = taken.map(|it| (it.seq.unwrap(), it.old.unwrap().0)).collect();
    taken.sort_unstable();
    taken.into_iter().map(|(_, old)| old).collect()
}

#[test]
fn atomic_operations_are_ordered() {
    let events = subject("tickets.c").flags(&["-O2"]).record().events();
    assert!(tickets(&events).into_iter().eq(0..100_000));
}

/// Loads of the same object do not contend, but each is ordered between two stores.
#[test]
fn loads_are_ordered_between_stores() {
    for order in ["local", "global"] {
        let events = subject("watched.c").options(&["--order", order]).record().events();
        let mut now = BTreeMap::<&str, u128>::new();
        let mut loads = 0;
        for event in events.iter().filter(|it| it.op.starts_with("atomic-")) {
            let now = now.entry(event.object.as_deref().unwrap()).or_default();
            let seen = if event.op == "atomic-load" { event.value } else { event.old };
            assert!(seen.is_none_or(|it| it.0 == *now), "{order}: {now} was there: {event:?}");
            loads += usize::from(event.op == "atomic-load");
            match &*event.op {
                "atomic-store" => *now = event.value.unwrap().0,
                "atomic-rmw" | "atomic-cas" => *now = event.new.unwrap().0,
                _ => {}
            }
        }
        assert!(loads > 20_000);
    }
}

#[test]
fn competing_exchanges_are_ordered() {
    let events = record("racing.c").events();
    let chain = events.iter().filter(|it| it.is("atomic-rmw", "token"));
    let mut chain: Vec<_> =
        chain.map(|it| (it.seq.unwrap(), it.old.unwrap().0, it.new.unwrap().0)).collect();
    chain.sort_unstable();
    assert_eq!(chain.len(), 4000);
    assert!(chain.windows(2).all(|pair| pair[0].2 == pair[1].1));
    assert_eq!(events.iter().filter(|it| it.is("write", "racy")).count(), 4000);
}

#[test]
fn the_global_order_has_all_events() {
    for name in ["locked.c", "racing.c", "struct_copy.c"] {
        let events = subject(name).options(&["--order", "global"]).record().events();
        let numbers: BTreeSet<u64> = events.iter().map(|it| it.seq.expect(name)).collect();
        assert_eq!(numbers.len(), events.len(), "{name}");
        assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq), "{name}");
        if name == "locked.c" {
            check_locked(&events);
        }
    }
}

#[test]
fn events_of_one_thread_are_in_program_order() {
    for order in ["local", "global"] {
        let events = subject("nested.c").options(&["--order", order]).record().events();
        let mut next = BTreeMap::new();
        for event in events.iter() {
            let expected = next.entry(event.thread.clone()).or_insert(event.index);
            assert_eq!(event.index, *expected, "{event:?}");
            *expected += 1;
        }
    }
}
