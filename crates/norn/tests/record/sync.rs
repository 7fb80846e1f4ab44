//! Conditions, barriers, once, semaphores, sleep, and the threads of C11.

use crate::{
    event::Event,
    kit::{check, record},
};

/// The synchronisation of a thread from its first event with `op` on.
fn from(text: &str, op: &str) -> String {
    let lines = text.lines().skip_while(|it| !it.starts_with(op));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn conditions() {
    let recorded = record("cond.c");
    check(
        &recorded.sync("T0.1"),
        "begin
         acquire m mutex
         sem-post ready
         wait-release m
         wait one
         wait-acquire one by T0
         release m mutex
         end",
    );
    for thread in ["T0.2", "T0.3"] {
        check(
            &recorded.sync(thread),
            "begin
             acquire m mutex
             sem-post ready
             wait-release m
             wait all
             wait-acquire all by T0
             release m mutex
             end",
        );
    }
    check(
        &from(&recorded.sync("T0"), "broadcast"),
        "broadcast all
         release m mutex
         join T0.2
         join T0.3
         acquire m mutex
         wait-release m
         wait one
         wait-acquire one timeout
         wait-release m
         wait one
         wait-acquire one timeout
         release m mutex
         destroy all cond",
    );
}

#[test]
fn the_signal_that_ended_a_wait_is_named() {
    let events = record("cond.c").events();
    let woken = |thread: &str| {
        let wait = events.iter().find(|it| it.thread == thread && it.op == "wait-acquire").unwrap();
        let by = wait.woken.as_ref().unwrap()["by"].as_str().unwrap().to_owned();
        let named = |it: &&Event| format!("{}:{}", it.thread, it.index) == by;
        events.iter().find(named).unwrap().short()
    };
    assert_eq!(woken("T0.1"), "signal one");
    assert_eq!(woken("T0.2"), "broadcast all");
    assert_eq!(woken("T0.3"), "broadcast all");
}

#[test]
fn barriers() {
    let recorded = record("barrier.c");
    let events = recorded.events();
    let on: Vec<&Event> = events.iter().filter(|it| it.variable() == "barrier").collect();
    assert_eq!(on[0].short(), "init barrier barrier 3");
    assert_eq!(on[on.len() - 1].short(), "destroy barrier barrier");
    let mut entered = 0;
    let mut left = 0;
    for event in &on[1..on.len() - 1] {
        match &*event.op {
            "barrier-enter" => entered += 1,
            "barrier-leave" => left += 1,
            other => panic!("{other}"),
        }
        assert!(left == 0 || entered >= 3 && (left <= 3 || entered == 6), "{entered} {left}");
    }
    assert_eq!((entered, left), (6, 6));
    let serial = on.iter().filter(|it| it.serial == Some(true)).count();
    assert_eq!(serial, 2);
}

#[test]
fn once() {
    let recorded = record("once.c");
    check(
        &recorded.sync("T0"),
        "begin
         init inside semaphore 0
         once-begin outer
         once-begin inner
         once-end inner done
         once-end outer done
         once-done outer
         fork T0.1
         join T0.1
         fork T0.2
         sem-wait inside
         cancel T0.2
         send
         join T0.2
         once-begin halfway
         once-end halfway done",
    );
    check(&recorded.sync("T0.1"), "begin\n once-done outer\n end");
    check(
        &recorded.sync("T0.2"),
        "begin\n once-begin halfway\n sem-post inside\n sleep 0\n once-end halfway\n end",
    );
}

#[test]
fn semaphores() {
    let text = record("semaphore.c").sync("T0");
    let (unnamed, named) = text.split_once("destroy sem semaphore\n").unwrap();
    check(
        unnamed,
        "begin
         init sem semaphore 2
         sem-wait sem
         sem-wait sem
         sem-failed sem error 11
         sem-post sem
         sem-wait sem
         sem-failed sem error 110
         sem-failed sem error 110
         sem-post sem
         sem-wait sem",
    );
    let ops: Vec<&str> = named.lines().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(ops, ["sem-post", "sem-wait"]);
}

#[test]
fn c11() {
    let recorded = record("c11.c");
    check(
        &recorded.sync("T0.1"),
        "begin
         acquire plain mutex
         sem-post waiting
         wait-release plain
         wait ready
         wait-acquire ready by T0
         release plain mutex
         acquire-failed timed mutex tried error 16
         acquire-failed timed mutex timed error 110
         end",
    );
    let first = recorded.sync("T0");
    assert!(
        first.starts_with(
            "begin\ninit waiting semaphore 0\ninit plain mutex 0\ninit recursive mutex 1\ninit timed mutex 0\n\
             init ready cond 0\ninit detached cond 0\nacquire timed mutex\nfork T0.1\n"
        ),
        "{first}"
    );
    check(
        &from(&first, "release timed").lines().take(11).collect::<Vec<_>>().join("\n"),
        "release timed mutex
         acquire recursive mutex
         acquire recursive mutex
         release recursive mutex
         release recursive mutex
         once-begin once
         once-end once done
         once-done once
         fork T0.2
         detach T0.2
         acquire plain mutex",
    );
    check(
        &from(&first, "wait-acquire ready"),
        "wait-acquire ready timeout
         release plain mutex
         destroy ready cond
         destroy recursive mutex",
    );
}

#[test]
fn sleeps() {
    check(
        &record("sleep.c").sync("T0"),
        "begin
         sleep 0
         sleep 1000000
         sleep 2000000
         sleep 3000000
         sleep 4000000
         yield
         yield
         yield",
    );
}

#[test]
fn an_absolute_sleep_is_recorded_as_a_duration() {
    let events = record("sleep_until.c").events();
    let sleep = events.iter().find(|it| it.op == "sleep").unwrap();
    assert!(sleep.nanoseconds.unwrap() < 1_000_000_000, "{sleep:?}");
}
