//! Finds the calls in the code.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use norn_binary::{Call, Module};
use subject::Subject;

/// The calls of a function, as `target line`.
fn calls_in(subject: &Subject, function: &str) -> Vec<String> {
    let module = Module::open(&subject.path).unwrap();
    let show = |call: &Call| {
        let frames = module.frames(call.returns_to - 1);
        let frame = frames.first().filter(|it| it.function.as_deref() == Some(function))?;
        Some(format!("{} {}", call.target.as_deref().unwrap_or("?"), frame.line.unwrap()))
    };
    module.calls().iter().filter_map(show).collect()
}

#[track_caller]
fn check(flags: &[&str]) {
    let hooked = ["-fsanitize=thread", "-g", "-O1"];
    let subject = Subject::build("gcc", "counter.c", &[&hooked, flags].concat());
    let calls = calls_in(&subject, "increment");
    assert_eq!(calls[1..3], ["__tsan_read4 5", "__tsan_write4 5"], "{flags:?}: {calls:?}");
}

#[test]
fn through_stubs_and_through_slots() {
    check(&[]);
    check(&["-fno-plt"]);
    check(&["-shared", "-fPIC"]);
}
