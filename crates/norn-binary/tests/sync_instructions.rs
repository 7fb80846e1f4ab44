//! Finds instructions that synchronise threads without being recorded.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use norn_binary::{Module, Reach};
use subject::{Subject, is_installed, line_of};

const PROGRAM: &str = "assembly.c";

#[track_caller]
fn build(compiler: &str, optimisation: &str) -> Subject {
    Subject::build(compiler, PROGRAM, &["-fsanitize=thread", "-g", optimisation])
}

fn each(check: impl Fn(&Subject)) {
    for compiler in ["gcc", "clang-14"] {
        if is_installed(compiler) {
            for level in ["-O0", "-O2"] {
                check(&build(compiler, level));
            }
        }
    }
}

/// What is reached from the return address of a call in a function.
fn behind(subject: &Subject, function: &str, hook: &str) -> Reach {
    let module = Module::open(&subject.path).unwrap();
    let is_in = |at: u64| module.symbol(at).is_some_and(|it| it.name.as_ref() == function);
    let calls = module.calls();
    let mut calls = calls.iter().filter(|it| is_in(it.returns_to - 1));
    let call = calls.find(|it| it.target.as_deref().is_some_and(|it| it.starts_with(hook)));
    module.reach(call.unwrap().returns_to)
}

fn names(reach: &Reach) -> Vec<&str> {
    reach.sync.keys().map(|it| it.name.as_str()).collect()
}

#[test]
fn instructions_are_found_in_the_lines_that_contain_them() {
    each(|subject| {
        let module = Module::open(&subject.path).unwrap();
        let all = module.sync_instructions();
        // clang links ThreadSanitizer's runtime into the program, which has such instructions, too.
        let is_here = |at: u64| {
            let frames = module.frames(at);
            frames.iter().any(|it| it.file.as_ref().is_some_and(|it| it.ends_with(PROGRAM)))
        };
        let exchanges = all.iter().filter(|it| it.name == "xchg" && is_here(it.address));
        let exchanges: Vec<_> = exchanges.collect();
        assert!(!exchanges.is_empty(), "{all:?}");
        let line = line_of(PROGRAM, "// exchange");
        for exchange in exchanges {
            let frames = module.frames(exchange.address);
            assert_eq!(frames[0].line, Some(line), "{frames:?}");
        }
        assert!(all.iter().any(|it| it.name == "pause" && it.waits), "{all:?}");
    });
}

#[test]
fn code_between_events_is_followed_into_calls_and_up_to_hooks() {
    each(|subject| {
        let reach = behind(subject, "guarded", "__tsan_write");
        assert!(names(&reach).contains(&"xchg"), "{reach:?}");
        assert!(reach.returns, "{reach:?}");
        let reach = behind(subject, "guarded", "__tsan_func_entry");
        assert!(names(&reach).contains(&"xchg"), "{reach:?}");
        assert!(!reach.returns, "{reach:?}");
        let reach = behind(subject, "bare", "__tsan_write");
        assert_eq!(names(&reach), [""; 0], "{reach:?}");
        assert!(reach.returns, "{reach:?}");
    });
}
