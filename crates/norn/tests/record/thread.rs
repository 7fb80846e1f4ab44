//! Threads: creation, end and names.

use std::collections::BTreeMap;

use crate::{
    event::{lines, writers},
    kit::{check, record, subject, written},
};

#[test]
fn create_join_detach_exit() {
    let recorded = record("threads.c");
    check(
        &recorded.sync("T0"),
        "begin
         init done semaphore 0
         fork T0.1
         join T0.1
         fork T0.2
         join T0.2
         fork T0.3
         detach T0.3
         sem-wait done
         fork T0.4
         join T0.4
         fork T0.5
         join T0.5",
    );
    for thread in ["T0.1", "T0.2", "T0.4", "T0.5"] {
        check(&recorded.sync(thread), "begin\n end");
    }
    let events = recorded.events();
    let cells = writers(&events, "cell");
    assert_eq!(cells.into_values().collect::<Vec<_>>(), ["T0.1", "T0.2", "T0.3", "T0.4", "T0.5"]);
}

#[test]
fn the_main_thread_may_end_first() {
    let recorded = record("main_exits.c");
    check(&recorded.sync("T0"), "begin\n fork T0.1\n end");
    check(&recorded.sync("T0.1"), "begin\n join T0\n end");
    assert_eq!(recorded.written("last"), [1]);
}

#[test]
fn a_thread_that_cannot_be_created_leaves_no_events() {
    let recorded = record("create_fails.c");
    check(&recorded.sync("T0"), "begin\n fork T0.1\n join T0.1");
    assert_eq!(recorded.written("ran"), [1]);
}

#[test]
fn names_are_the_same_in_every_run() {
    let expected = [
        (0, "T0"),
        (1, "T0.1"),
        (2, "T0.2"),
        (3, "T0.1.1"),
        (4, "T0.1.2"),
        (5, "T0.1.1.1"),
        (6, "T0.2.1"),
    ];
    let expected: BTreeMap<u128, String> =
        expected.map(|(cell, name)| (cell, name.to_owned())).into();
    let subject = subject("nested.c").not_compared();
    for run in 0..20 {
        assert_eq!(writers(&subject.record().events(), "who"), expected, "run {run}");
    }
}

#[test]
fn nested_threads_are_joined_by_their_creators() {
    let events = record("nested.c").events();
    let joins = events.iter().filter(|it| it.op == "join");
    for (creator, other) in joins.map(|it| (&it.thread, it.other.as_ref().unwrap())) {
        assert_eq!(other.rsplit_once('.').unwrap().0, creator);
    }
}

#[test]
fn a_thread_is_cancelled_in_a_condition_wait() {
    let recorded = record("cancel_wait.c");
    let events = recorded.events();
    let shown = |it: &&_| matches(it, "T0.1", "cleaned");
    check(
        &lines(events.iter().filter(shown)),
        "begin
         acquire m mutex
         sem-post ready
         wait-release m
         wait never
         wait-acquire never error 125
         receive
         write cleaned 4 1
         release m mutex
         end",
    );
    check(
        &recorded.sync("T0"),
        "begin
         init ready semaphore 0
         fork T0.1
         sem-wait ready
         acquire m mutex
         release m mutex
         cancel T0.1
         send
         join T0.1",
    );
}

fn matches(event: &crate::event::Event, thread: &str, variable: &str) -> bool {
    event.thread == thread && (event.is_own_sync() || event.variable() == variable)
}

#[test]
fn a_thread_is_cancelled_in_its_sleep() {
    let events = record("cancel_sleep.c").events();
    let shown = |it: &&_| matches(it, "T0.1", "cleaned");
    check(
        &lines(events.iter().filter(shown)),
        "begin
         sem-post ready
         sleep 1000000000000
         receive
         write cleaned 4 1
         end",
    );
}

#[test]
fn destructors_of_thread_specific_data_are_recorded() {
    let recorded = record("keys.c");
    let events = recorded.events();
    let shown = |it: &&_| matches(it, "T0.1", "first");
    check(
        &lines(events.iter().filter(shown)),
        "begin\n write first 4 1\n write first 4 2\n write first 4 3\n end",
    );
    // The keys themselves are not: which thread creates those of a library depends on the schedule.
    assert!(events.iter().all(|it| it.class.as_deref() != Some("key")));
}

#[test]
fn three_hundred_threads_run_at_once() {
    let recorded = record("many_threads.c");
    let events = recorded.events();
    let count = |op: &str| events.iter().filter(|it| it.op == op).count();
    let ops = ["fork", "join", "barrier-enter", "barrier-leave", "end"];
    assert_eq!(ops.map(count), [300; 5]);
    assert_eq!(written(&events, "cell"), [1; 300]);
    let threads = recorded.info()["threads"].as_array().unwrap().len();
    assert_eq!(threads, 301);
}

/// Threads beyond the limit run unrecorded, and their number is reported.
#[test]
fn threads_beyond_the_limit_run_unrecorded() {
    let subject = subject("too_many_threads.c").not_compared();
    let recorded = subject.record();
    assert_eq!(recorded.ran.stdout, subject.run_native().stdout);
    let events = recorded.events();
    let count = |op: &str| events.iter().filter(|it| it.op == op).count();
    let ops = ["fork", "join", "end", "handler-begin"];
    assert_eq!(ops.map(count), [4095, 4095, 4095, 0]);
    assert_eq!(written(&events, "cell"), vec![1; 4095]);
    assert_eq!((written(&events, "handled"), written(&events, "after")), (vec![], vec![1]));
    // Of 4201 threads 105, and one handler.
    assert_eq!(recorded.info()["unrecorded_threads"], 106);
    let lines = [
        (recorded.ran.stderr.clone(), "norn: 106 threads or signal handlers were not recorded"),
        (recorded.norn(&["info"]).stdout, "  106 threads or signal handlers that were too many"),
    ];
    for (text, said) in lines {
        assert!(text.lines().any(|it| it.starts_with(said)), "{text}");
    }
}

#[test]
fn twenty_thousand_threads_run_one_after_another() {
    let recorded = record("short_threads.c");
    let events = recorded.events();
    assert!(written(&events, "total").into_iter().eq(1..=20_000));
    let joined = events.iter().filter(|it| it.op == "join").map(|it| it.other.clone().unwrap());
    assert!(joined.eq((1..=20_000).map(|number| format!("T0.{number}"))));
    let info = recorded.info();
    assert_eq!((&info["lost"], &info["late"]), (&0.into(), &0.into()));
}

#[test]
fn six_thousand_handles_are_distinguished() {
    let events = record("many_handles.c").events();
    let count = |op: &str| events.iter().filter(|it| it.op == op).count();
    assert_eq!((count("fork"), count("join")), (6000, 6000));
    assert!(written(&events, "total").into_iter().eq(1..=6000));
}

#[test]
fn a_thread_of_a_library_is_recorded() {
    let events = record("foreign.c").events();
    let write = events.iter().find(|it| it.is("write", "fired")).unwrap();
    assert_ne!(write.thread, "T0");
    let post = events.iter().position(|it| it.is("sem-post", "done"));
    let wait = events.iter().position(|it| it.is("sem-wait", "done"));
    assert!(post.is_some() && post < wait);
}
