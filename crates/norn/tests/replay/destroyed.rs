//! Uses of destroyed synchronization objects.

use crate::kit::{Ran, Subject, subject};

fn used(subject: &Subject, arguments: &[&str]) -> Ran {
    subject.write(arguments, &[]);
    subject.replay("clip.json", &["--timeout", "20"])
}

#[test]
fn a_use_after_destruction_is_detected() {
    let subject = subject("destroyed.c");
    for what in ["mutex", "signal", "broadcast", "read", "write", "barrier", "post", "try"] {
        let ran = used(&subject, &[what]);
        assert!(ran.stderr.contains("norn: use of a destroyed object"), "{what}: {ran:?}");
        assert_eq!(ran.status.code(), Some(1), "{what}: {ran:?}");
    }
    let ran = used(&subject, &["block"]);
    assert!(ran.stderr.contains("norn: use after free"), "{ran:?}");
}

#[test]
fn the_report_names_the_destruction() {
    let subject = subject("destroyed.c");
    let ran = used(&subject, &["mutex"]);
    let (by, used) = (subject.line("// mutex"), subject.line("// use"));
    assert!(
        ran.stderr.contains(&format!("T0    used an object that was destroyed at use {used}")),
        "{ran:?}"
    );
    assert!(ran.stderr.contains(&format!("T0.1  destroyed it at destroy {by}")), "{ran:?}");
}

#[test]
fn a_reinitialized_object_may_be_used() {
    let subject = subject("destroyed.c");
    let all = ["mutex", "signal", "broadcast", "read", "write", "barrier", "post", "try", "block"];
    let by_function = all.map(|it| [it, "function"]);
    let by_value = ["mutex", "signal", "broadcast", "read", "write"].map(|it| [it, "static"]);
    for arguments in by_function.into_iter().chain(by_value) {
        let ran = used(&subject, &arguments);
        assert_eq!(ran.status.code(), Some(0), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_null_lock_is_a_crash() {
    let ran = subject("null_lock.c").run(&["--strategy", "round-robin"]);
    assert!(ran.stderr.contains("norn: signal 11 at use null_lock.c:10 ("), "{ran:?}");
}
