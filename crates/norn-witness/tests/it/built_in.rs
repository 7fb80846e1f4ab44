//! Each built-in pattern on the smallest trace that contains it, and on the smallest that does not.

use norn_model::BugClass;
use norn_predict::{Action, Options, Pattern, Slot};

use crate::kit::hunt;

/// One thread's part of a pattern, in a critical section.
fn unit(pattern: &Pattern, thread: usize, lock: &str) -> String {
    let event = |slot: &Slot| {
        let action = match slot.action {
            Action::Read | Action::Use => "r",
            Action::Write => "w",
            Action::Free => return format!("T{thread} free v{}\n", slot.variable),
        };
        format!("T{thread} {action} v{}\n", slot.variable)
    };
    let slots = pattern.slots.iter().filter(|it| it.thread == thread);
    let events: String = slots.map(event).collect();
    format!("T{thread} acq {lock}\n{events}T{thread} rel {lock}\n")
}

/// A run in which each of two threads executes its part without interruption.
fn trace(pattern: &Pattern, locks: [&str; 2]) -> String {
    let parts = [0, 1].map(|it| unit(pattern, it, locks[it]));
    let memory = if pattern.frees() { "T2 alloc v0 8\nT2 fork T0\nT2 fork T1\n" } else { "" };
    format!("order global\n{memory}{}", parts.concat())
}

fn finds(pattern: &Pattern, trace: &str) -> bool {
    let options = Options { patterns: vec![pattern.clone()], ..Options::default() };
    let named = format!("{} {}: ", pattern.class(), pattern.name());
    let found = hunt(trace, &options);
    let witnesses = found.lines().filter(|it| it.contains("| sound") || it.contains("| spec"));
    witnesses.into_iter().any(|it| it.contains(&named))
}

#[test]
fn each_pattern_is_found() {
    for pattern in Pattern::built_in() {
        assert!(finds(&pattern, &trace(&pattern, ["l", "m"])), "{pattern:?}");
    }
}

/// One lock excludes the patterns. It does not prevent a use after free, which may occur in either
/// order of the sections.
#[test]
fn a_lock_prevents_each_pattern() {
    for pattern in Pattern::built_in().iter().filter(|it| it.class() != BugClass::Lifetime) {
        assert!(!finds(pattern, &trace(pattern, ["l", "l"])), "{pattern:?}");
    }
}

/// Without any one of its events a pattern does not match.
#[test]
fn each_pattern_needs_all_its_events() {
    for pattern in Pattern::built_in() {
        for left_out in 0..pattern.slots.len() {
            let mut less = pattern.clone();
            less.slots.remove(left_out);
            assert!(!finds(&pattern, &trace(&less, ["l", "m"])), "without {left_out}: {pattern:?}");
        }
    }
}

/// The eleven problematic interleavings of Vaziri, Tip and Dolby, and write skew.
#[test]
fn all_patterns_are_built_in() {
    let shape = |pattern: Pattern| {
        let event = |it: &Slot| {
            let action = if it.action == Action::Read { "R" } else { "W" };
            format!("{action}{}(v{})", it.thread, it.variable)
        };
        pattern.slots.iter().map(event).collect::<Vec<_>>().join(" ")
    };
    let sets = [BugClass::Atomicity, BugClass::AtomicSet];
    let all = Pattern::built_in().into_iter().filter(|it| sets.contains(&it.class())).map(shape);
    insta::assert_snapshot!(all.collect::<Vec<_>>().join("\n"), @r"
    R0(v0) W1(v0) R0(v0)
    W0(v0) W1(v0) R0(v0)
    W0(v0) R1(v0) W0(v0)
    R0(v0) W1(v0) W0(v0)
    W0(v0) W1(v0) W0(v0)
    W0(v0) W1(v0) W1(v1) W0(v1)
    W0(v0) W1(v1) W1(v0) W0(v1)
    W0(v0) R1(v0) R1(v1) W0(v1)
    W0(v0) R1(v1) R1(v0) W0(v1)
    R0(v0) W1(v0) W1(v1) R0(v1)
    R0(v0) W1(v1) W1(v0) R0(v1)
    R0(v0) R1(v1) W1(v0) W0(v1)
    R0(v0) W1(v0) R1(v1) W0(v1)
    ");
}
