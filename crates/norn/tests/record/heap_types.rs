//! Names of parts of heap blocks: their types, members, and the variables that point to them.

use std::collections::BTreeMap;

use norn_e2e::tool::installed;

use crate::kit::{Recorded, subject};

/// A value, and the name of what it is written to.
type Names = &'static [(u128, &'static str)];

const C: Names = &[
    (3001, "queue_t::counts[1] of queue"),
    (3002, "node#5::key"),
    (3003, "node::key of queue->head"),
    (3010, "node::key of spare[0]"),
    (3011, "node::key of spare[1]"),
    (3020, "task[0].cost of tasks"),
    (3022, "task[2].cost of tasks"),
];

const CXX: Names = &[
    (4001, "bank::Account::balance_ of accounts[0]"),
    (4002, "bank::Account::balance_ of accounts[1]"),
    (4003, "bank::Account::balance_ of others[1]"),
    (4004, "bank::Log::lines_[0] of log_"),
    (4005, "bank::Log::lines_[0] of shared"),
];

const COMPILERS: [&str; 3] = ["gcc", "clang-14", "clang-19"];

fn check(recorded: &Recorded, expected: Names, how: &str) {
    let mut left: BTreeMap<u128, &str> = expected.iter().copied().collect();
    let mut wrong = Vec::new();
    for event in recorded.events().iter().filter(|it| it.op == "write") {
        let (Some(value), Some(name)) = (&event.value, event.object.as_deref()) else { continue };
        let Some(expected) = left.remove(&value.0) else { continue };
        if name != expected {
            wrong.push(format!("{name}, not {expected}"));
        }
    }
    assert!(left.is_empty() && wrong.is_empty(), "{how}: {wrong:?}, missing: {left:?}");
}

fn check_all(source: &str, expected: Names) {
    for compiler in installed(COMPILERS) {
        for level in ["-O0", "-O2"] {
            let recorded = subject(source).compiler(compiler).flags(&[level]).record();
            check(&recorded, expected, &format!("{source} {compiler} {level}"));
        }
    }
}

#[test]
fn structures_on_the_heap_have_names() {
    check_all("heap_types.c", C);
}

#[test]
fn objects_of_cxx_on_the_heap_have_names() {
    check_all("heap_types.cc", CXX);
}

/// Two objects of the same type have different names, whatever points to them.
#[test]
fn locks_on_the_heap_have_names_of_their_own() {
    for level in ["-O0", "-O2"] {
        let events = subject("heap_types.cc").flags(&[level]).record().events();
        let locks: Vec<_> = events.iter().filter(|it| it.op == "acquire").collect();
        let names: Vec<_> = locks.iter().filter_map(|it| it.object.as_deref()).collect();
        let expected = ["accounts[0]", "accounts[1]", "others[1]"];
        assert_eq!(names, expected.map(|it| format!("bank::Account::mutex_ of {it}")), "{level}");
    }
}
