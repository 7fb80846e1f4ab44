//! Local variables have their names, whichever thread accesses them. Each is written with a unique
//! value, so that a wrong name is detected.

use std::collections::BTreeMap;

use crate::kit::{Recorded, installed, subject};

/// Values, and the variables that they are written to.
type Names = &'static [(u128, &'static str)];

const C: Names = &[
    (1001, "plain"),
    (1002, "box.left"),
    (1003, "box.right[2]"),
    (1004, "first[1]"),
    (1005, "second[1]"),
    (1006, "parameter"),
    (1007, "chosen"),
    (1020, "mine"),
    (1021, "mine"),
    (1022, "mine"),
    (1030, "mine"),
    (1031, "mine"),
    (1032, "mine"),
    (1101, "slot of T0.1"),
    (1102, "slot of T0.2"),
    (1201, "slot of T0.2"),
    (1202, "slot of T0.1"),
    (1301, "shared"),
    (1302, "shared"),
];

const CXX: Names = &[
    (1001, "account.balance"),
    (1002, "account.balance"),
    (1003, "flag"),
    (1004, "tally.counts[2]"),
    (1005, "caught"),
    (1006, "last"),
];

const COMPILERS: [&str; 3] = ["gcc", "clang-14", "clang-19"];
const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// Integers that begin with a constant: clang, optimising, says where some of them are nowhere.
const FORGOTTEN: [&str; 3] = ["plain", "shared", "flag"];

/// Checks that each value is written to the variable of this name only.
fn check(recorded: &Recorded, expected: Names, how: &str) {
    let mut left: BTreeMap<u128, &str> = expected.iter().copied().collect();
    let mut wrong = Vec::new();
    for event in recorded.events().iter().filter(|it| it.op == "write") {
        let (Some(value), Some(name)) = (&event.value, event.object.as_deref()) else { continue };
        let Some(expected) = left.remove(&value.0) else { continue };
        let forgotten = how.contains("clang")
            && !how.ends_with("-O0")
            && FORGOTTEN.contains(&expected)
            && name.starts_with("stack of T0, main - 0x");
        if name != expected && !forgotten {
            wrong.push(format!("{name}, not {expected}"));
        }
    }
    assert!(left.is_empty() && wrong.is_empty(), "{how}: {wrong:?}, missing: {left:?}");
}

fn check_all(source: &str, expected: Names) {
    for compiler in installed(COMPILERS) {
        for level in LEVELS {
            let recorded = subject(source).compiler(compiler).flags(&[level]).record();
            check(&recorded, expected, &format!("{source} {compiler} {level}"));
        }
    }
}

#[test]
fn locals_of_c_have_names() {
    check_all("local.c", C);
}

#[test]
fn locals_of_cxx_have_names() {
    check_all("local.cc", CXX);
}

#[test]
fn locks_on_stacks_have_names() {
    for level in LEVELS {
        let events = subject("local.cc").flags(&[level]).record().events();
        let locks =
            events.iter().filter(|it| it.op == "acquire").filter_map(|it| it.object.as_deref());
        assert!(
            locks.clone().count() > 0 && locks.clone().all(|it| it == "account.lock"),
            "{level}"
        );
    }
}

/// Without debug information there are no names, and no wrong ones.
#[test]
fn stripped_programs_have_no_names() {
    let recorded = subject("local.c").flags(&["-s"]).record();
    let events = recorded.events();
    let writes =
        events.iter().filter(|it| it.value.is_some_and(|it| C.iter().any(|c| c.0 == it.0)));
    for event in writes.filter(|it| it.op == "write") {
        assert!(
            event.object.as_deref().is_some_and(|it| it.starts_with("stack of T0")),
            "{event:?}"
        );
    }
}
