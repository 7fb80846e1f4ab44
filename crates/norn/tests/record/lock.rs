//! Mutexes, spin locks, read-write locks.

use crate::kit::{check, record};

#[test]
fn mutexes() {
    let recorded = record("mutex.c");
    check(
        &recorded.sync("T0"),
        "begin
         init recursive mutex 1
         init checked mutex 2
         acquire normal mutex
         fork T0.1
         join T0.1
         release normal mutex
         acquire recursive mutex
         acquire recursive mutex
         release recursive mutex
         release recursive mutex
         acquire checked mutex
         acquire-failed checked mutex error 35
         release checked mutex
         acquire normal mutex tried
         release normal mutex
         acquire normal mutex timed
         release normal mutex
         acquire normal mutex timed
         release normal mutex
         destroy recursive mutex
         destroy checked mutex",
    );
    check(
        &recorded.sync("T0.1"),
        "begin
         acquire-failed normal mutex tried error 16
         acquire-failed normal mutex timed error 110
         acquire-failed normal mutex timed error 110
         end",
    );
}

#[test]
fn a_failed_unlock_releases_nothing() {
    let recorded = record("unlock_fails.c");
    check(
        &recorded.sync("T0"),
        "begin
         init checked mutex 2
         acquire checked mutex
         fork T0.1
         join T0.1
         release checked mutex",
    );
    check(&recorded.sync("T0.1"), "begin\n end");
}

#[test]
fn a_robust_mutex_outlives_its_owner() {
    let recorded = record("robust.c");
    check(&recorded.sync("T0.1"), "begin\n acquire m mutex\n end");
    check(
        &recorded.sync("T0"),
        "begin
         init m mutex 0
         fork T0.1
         join T0.1
         acquire m mutex ownerdied
         release m mutex",
    );
}

#[test]
fn spin_locks() {
    let recorded = record("spin.c");
    check(
        &recorded.sync("T0"),
        "begin
         init spin spin 0
         acquire spin spin
         fork T0.1
         join T0.1
         release spin spin
         acquire spin spin tried
         release spin spin
         destroy spin spin",
    );
    check(&recorded.sync("T0.1"), "begin\n acquire-failed spin spin tried error 16\n end");
}

#[test]
fn read_write_locks() {
    let recorded = record("rwlock.c");
    check(
        &recorded.sync("T0"),
        "begin
         init rw rwlock 0
         acquire rw read
         fork T0.1
         join T0.1
         release rw read
         acquire rw read tried
         release rw read
         acquire rw read timed
         release rw read
         acquire rw read timed
         release rw read
         acquire rw write
         fork T0.2
         join T0.2
         release rw write
         acquire rw write tried
         release rw write
         acquire rw write timed
         release rw write
         acquire rw write timed
         release rw write
         destroy rw rwlock",
    );
    check(
        &recorded.sync("T0.1"),
        "begin
         acquire rw read
         release rw read
         acquire-failed rw write tried error 16
         acquire-failed rw write timed error 110
         acquire-failed rw write timed error 110
         end",
    );
    check(
        &recorded.sync("T0.2"),
        "begin
         acquire-failed rw read tried error 16
         acquire-failed rw read timed error 110
         acquire-failed rw read timed error 110
         end",
    );
}
