//! Signal handlers, jumps, deep stacks.

use crate::{
    event::Event,
    kit::{installed, record, subject, written},
};

/// The values written to a variable by streams that handle signals, or by those that do not.
fn written_by(events: &[Event], variable: &str, handler: bool) -> Vec<u128> {
    let streams: Vec<&str> =
        events.iter().filter(|it| it.op == "handler-begin").map(|it| &*it.thread).collect();
    let by = |it: &&Event| streams.contains(&&*it.thread) == handler;
    let writes: Vec<Event> =
        events.iter().filter(by).filter(|it| it.is("write", variable)).cloned().collect();
    written(&writes, variable)
}

#[test]
fn a_handler_has_a_stream_of_its_own() {
    for level in ["-O0", "-O2"] {
        let events = subject("handler.c").flags(&[level]).record().events();
        let hits = written_by(&events, "hits", true);
        assert!(hits.iter().copied().eq(1..=400));
        assert!(written_by(&events, "hits", false).is_empty());
        let steps = written_by(&events, "steps", false);
        if level == "-O0" {
            assert!(
                steps
                    .into_iter()
                    .eq(1..=(events.iter().filter(|it| it.is("write", "steps")).count() as u128))
            );
        }
        let count = |op: &str| events.iter().filter(|it| it.op == op).count();
        assert_eq!((count("handler-begin"), count("handler-end")), (hits.len(), hits.len()));
        assert!(
            events.iter().filter(|it| it.op == "handler-begin").all(|it| it.signal == Some(10))
        );
    }
}

#[test]
fn atomic_operations_in_handlers_are_recorded() {
    let events = record("handler_atomic.c").events();
    let mut steps: Vec<(u64, u128)> = events
        .iter()
        .filter(|it| it.is("atomic-rmw", "total"))
        .map(|it| (it.seq.unwrap(), it.old.unwrap().0))
        .collect();
    steps.sort_unstable();
    let values: Vec<u128> = steps.into_iter().map(|(_, old)| old).collect();
    let first_wrong = values.iter().zip(0..).position(|(value, step)| *value != step);
    assert_eq!(first_wrong, None, "of {}", values.len());
}

#[test]
fn a_jump_out_of_a_handler_ends_its_stream() {
    let events = record("segv_jump.c").events_with_stacks();
    assert_eq!(written_by(&events, "caught", true), [1, 2, 3]);
    let count = |op: &str| events.iter().filter(|it| it.op == op).count();
    assert_eq!((count("handler-begin"), count("handler-end")), (3, 3));
    let after = events.iter().find(|it| it.is("write", "after")).unwrap();
    assert_eq!((&*after.thread, after.value.unwrap().0), ("T0", 9));
    assert_eq!(after.functions(), ["note", "main"]);
}

#[test]
fn jumps_out_of_calls() {
    for compiler in installed(["gcc", "clang-14"]) {
        for flags in [&["-O0"][..], &["-O2", "-D_FORTIFY_SOURCE=2"]] {
            let events =
                subject("longjmp.c").compiler(compiler).flags(flags).record().events_with_stacks();
            assert_eq!(written(&events, "after"), [1, 2, 3]);
            for event in events.iter().filter(|it| it.is("write", "after")) {
                let functions = event.functions();
                assert_eq!(functions, ["jump", "main"], "{compiler} {flags:?}");
            }
        }
    }
}

#[test]
fn deep_recursion() {
    let events = record("recursion.c").events_with_stacks();
    assert_eq!(written(&events, "bottom"), [20_000, 20_000]);
    let after = events.iter().find(|it| it.is("write", "after")).unwrap();
    assert_eq!(after.functions(), ["note", "main"]);
}

#[test]
fn two_stacks_in_one_thread() {
    let recorded = record("context.c");
    assert_eq!(recorded.written("turn"), [1, 2, 3, 4]);
}

#[test]
fn all_signals_are_handled() {
    let recorded = record("signals.c");
    let events = recorded.events();
    let count = |op: &str| events.iter().filter(|it| it.op == op).count();
    // 60 signals, each by two handlers, and one more that is reset.
    assert_eq!((count("handler-begin"), count("handler-end")), (121, 121));
}

#[test]
fn an_interrupted_wait_is_recorded_as_failed() {
    let recorded = record("interrupted.c");
    let events = recorded.events();
    let failed: Vec<&Event> = events.iter().filter(|it| it.is("sem-failed", "sem")).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].error, Some(4));
}

/// A handler on a stack above the thread's: the jump goes down, not up.
#[test]
fn a_jump_out_of_a_handler_on_another_stack() {
    let events = record("altstack_jump.c").events_with_stacks();
    let after = events.iter().find(|it| it.is("write", "after")).unwrap();
    assert_eq!(&*after.thread, "T0.1");
    assert_eq!(after.functions(), ["note", "run"]);
    let count = |op: &str| events.iter().filter(|it| it.op == op).count();
    assert_eq!((count("handler-begin"), count("handler-end")), (1, 1));
}

#[test]
fn a_jump_between_deep_frames() {
    let events = record("recursion_jump.c").events_with_stacks();
    let after = events.iter().find(|it| it.is("write", "after")).unwrap();
    assert_eq!(after.functions(), ["note", "middle", "main"]);
}

#[test]
fn handlers_that_interrupt_handlers() {
    let events = record("handler_nested.c").events();
    let count = |signal: u64| {
        events.iter().filter(|it| it.op == "handler-begin" && it.signal == Some(signal)).count()
    };
    assert!(count(10) > 0);
    assert_eq!(count(10), count(12));
}

#[test]
fn the_smallest_stacks() {
    let events = record("small_stack.c").events();
    let begun = events.iter().find(|it| it.op == "handler-begin").unwrap();
    assert_eq!(begun.signal, Some(10));
    let locks = events.iter().filter(|it| it.thread == "T0.1" && it.variable() == "m").count();
    assert_eq!(locks, 2);
}
