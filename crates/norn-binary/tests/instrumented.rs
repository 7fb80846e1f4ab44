//! Detects which modules call the hooks.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use norn_binary::{Instrumented, Module};
use subject::{Subject, clangs, programs};

fn instrumented(subject: &Subject) -> Instrumented {
    Module::open(&subject.path).unwrap().instrumented()
}

/// The counter with a stand-in for the runtime linked in; only the counter may be instrumented.
fn with_runtime(counter: &[&str], runtime: &[&str], link: &[&str]) -> Subject {
    let compile = ["-c", "-O1", "-g"];
    let subject = Subject::build("gcc", "counter.c", &[&compile, counter].concat());
    let (hooks, main) = (programs().join("hooks.c"), subject.file("counter.o"));
    std::fs::rename(&subject.path, &main).unwrap();
    let hooks = [hooks.to_str().unwrap(), "-o", "hooks.o"];
    subject.run("gcc", &[&compile, &hooks[..], runtime].concat());
    subject.run("gcc", &[&["counter.o", "hooks.o", "-o", "subject"], link].concat());
    subject
}

#[test]
fn runtime_elsewhere() {
    let yes = Subject::build("gcc", "counter.c", &["-fsanitize=thread", "-g"]);
    assert_eq!(instrumented(&yes), Instrumented::Yes);
    yes.run("strip", &["subject"]);
    assert_eq!(instrumented(&yes), Instrumented::Yes);

    let library = ["-fsanitize=thread", "-shared", "-fPIC"];
    assert_eq!(instrumented(&Subject::build("gcc", "counter.c", &library)), Instrumented::Yes);
}

#[test]
fn runtime_inside_with_clang() {
    for compiler in clangs("") {
        let subject = Subject::build(&compiler, "counter.c", &["-fsanitize=thread", "-g"]);
        assert_eq!(instrumented(&subject), Instrumented::Yes, "{compiler}");
        // The driver exports the hooks for the libraries of the program, so they stay visible.
        subject.run("strip", &["subject"]);
        assert_eq!(instrumented(&subject), Instrumented::Yes, "{compiler}, stripped");
    }
}

#[test]
fn not_instrumented() {
    assert_eq!(instrumented(&Subject::build("gcc", "counter.c", &[])), Instrumented::No);
    let library = Subject::build("gcc", "counter.c", &["-shared", "-fPIC"]);
    library.run("strip", &["subject"]);
    assert_eq!(instrumented(&library), Instrumented::No);
}

#[test]
fn runtime_inside() {
    let tsan = ["-fsanitize=thread"];
    let static_link = ["-static"];
    assert_eq!(instrumented(&with_runtime(&tsan, &[], &[])), Instrumented::Yes);
    assert_eq!(instrumented(&with_runtime(&tsan, &[], &static_link)), Instrumented::Yes);
    // The hooks are defined, but nothing calls them.
    assert_eq!(instrumented(&with_runtime(&[], &[], &[])), Instrumented::No);
    assert_eq!(instrumented(&with_runtime(&[], &[], &static_link)), Instrumented::No);
}

#[test]
fn runtime_inside_and_stripped() {
    let tsan = ["-fsanitize=thread"];
    let marked = ["-DMARKED"];
    assert_eq!(instrumented(&with_runtime(&tsan, &[], &["-s"])), Instrumented::Unknown);
    assert_eq!(instrumented(&with_runtime(&tsan, &[], &["-s", "-static"])), Instrumented::Unknown);
    assert_eq!(instrumented(&with_runtime(&tsan, &marked, &["-s"])), Instrumented::Yes);
    assert_eq!(instrumented(&with_runtime(&tsan, &marked, &["-s", "-static"])), Instrumented::Yes);
    assert_eq!(instrumented(&with_runtime(&tsan, &[], &["-s", "-rdynamic"])), Instrumented::Yes);
    assert_eq!(instrumented(&with_runtime(&[], &[], &["-s", "-rdynamic"])), Instrumented::No);
}
