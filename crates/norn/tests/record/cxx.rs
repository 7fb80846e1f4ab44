//! C++: its threads, locks, statics, exceptions.

use std::process::Command;

use crate::{
    event::{Event, lines, writers},
    kit::{check, installed, is_installed, record, run, subject, subjects, values, written},
};

#[test]
fn threads() {
    for compiler in installed(["gcc", "clang-14"]) {
        let recorded = subject("thread.cc").compiler(compiler).record();
        check(
            &recorded.sync("T0"),
            "begin
             init done semaphore 0
             fork T0.1
             join T0.1
             fork T0.2
             detach T0.2
             sem-wait done
             fork T0.3
             fork T0.4
             join T0.3
             join T0.4",
        );
        let cells = writers(&recorded.events(), "cell");
        assert_eq!(cells.into_values().collect::<Vec<_>>(), ["T0.1", "T0.2", "T0.3", "T0.4"]);
    }
}

/// The library hides its native mutex in members; only the variable's name matters here.
fn locks(events: &[Event], thread: &str) -> String {
    let shown = events.iter().filter(|it| it.thread == thread && it.mode.is_some());
    let text = |it: &Event| {
        let mut words = vec![it.op.clone(), it.variable().to_owned(), it.mode.clone().unwrap()];
        words.extend(it.how.clone().filter(|it| it != "waited"));
        words.extend(it.error.map(|it| it.to_string()));
        words.join(" ") + "\n"
    };
    shown.map(text).collect()
}

#[test]
fn mutexes() {
    for compiler in installed(["gcc", "clang-14"]) {
        let events =
            subject("mutex.cc").compiler(compiler).flags(&["-std=c++17"]).record().events();
        check(
            &locks(&events, "T0"),
            "acquire plain mutex
             acquire shared read
             acquire timed mutex
             release timed mutex
             release shared read
             release plain mutex
             acquire plain mutex
             release plain mutex
             acquire recursive mutex
             acquire recursive mutex
             release recursive mutex
             release recursive mutex
             acquire timed mutex timed
             release timed mutex
             acquire shared read
             release shared read
             acquire shared write
             release shared write
             acquire first mutex
             acquire second mutex tried
             release first mutex
             release second mutex",
        );
        check(
            &locks(&events, "T0.1"),
            "acquire-failed plain mutex tried 16
             acquire-failed shared write tried 16
             acquire-failed timed mutex timed 110",
        );
    }
}

#[test]
fn conditions() {
    let recorded = record("condition.cc");
    let events = recorded.events();
    let shown = |thread: &str| {
        let text = lines(events.iter().filter(|it| it.thread == thread && it.is_sync()));
        text.replace("._M_cond", "").replace("._M_mutex", "")
    };
    let thread = shown("T0.1");
    let ops: Vec<&str> = thread.lines().filter_map(|it| it.split(' ').next()).collect();
    let expected =
        ["begin", "acquire", "sem-post", "wait-release", "wait", "wait-acquire", "release", "end"];
    assert_eq!(ops, expected);
    assert!(thread.lines().nth(5).unwrap().ends_with("by T0"), "{thread}");
    let first = shown("T0");
    let last_wait = first.lines().rfind(|it| it.starts_with("wait-acquire")).unwrap();
    assert!(last_wait.ends_with("timeout"), "{last_wait}");
}

/// The once-only events of a thread, of objects that have a name.
fn once(events: &[Event], thread: &str) -> Vec<String> {
    let own = |it: &&Event| it.op.starts_with("once") && it.object.is_some();
    let shown = events.iter().filter(|it| it.thread == thread).filter(own);
    let done = |it: &Event| it.done.map_or("", |it| if it { " done" } else { " not done" });
    shown.map(|it| format!("{}{}", it.op, done(it))).collect()
}

#[test]
fn call_once() {
    let events = record("call_once.cc").events();
    let expected = ["once-begin", "once-end not done", "once-begin", "once-end done"];
    assert_eq!(once(&events, "T0"), expected);
    assert_eq!(once(&events, "T0.1"), ["once-done"]);
}

#[test]
fn futures() {
    let recorded = record("future.cc");
    let events = recorded.events();
    for (variable, thread, value) in [("result", "T0.1", 42), ("other", "T0.2", 7)] {
        assert_eq!(writers(&events, variable)[&value], thread);
        assert_eq!(values(&events, "read", variable), [value]);
        let write = events.iter().position(|it| it.is("write", variable));
        let read = events.iter().position(|it| it.is("read", variable));
        assert!(write < read);
    }
    let of = |op: &str| {
        let mut names: Vec<_> =
            events.iter().filter(|it| it.op == op).filter_map(|it| it.other.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(
        (of("fork"), of("join")),
        (vec!["T0.1".into(), "T0.2".into()], vec!["T0.1".into(), "T0.2".into()])
    );
}

/// Several runs, so that it is reached at once in some of them.
#[test]
fn static_variables_of_functions() {
    let subject = subject("guard.cc").not_compared();
    record("guard.cc");
    for _ in 0..6 {
        let events = subject.record().events();
        assert_eq!(written(&events, "made"), [7]);
        let count = |op: &str| events.iter().filter(|it| it.op == op).count();
        assert_eq!((count("once-begin"), count("once-end")), (1, 1));
        let begin = events.iter().find(|it| it.op == "once-begin").unwrap();
        let found = |it: &&Event| {
            let loaded = it.op == "atomic-load"
                && it.address == begin.address
                && it.value.is_some_and(|it| it.0 & 1 == 1);
            it.thread != begin.thread && (it.op == "once-done" || loaded)
        };
        let end = events.iter().position(|it| it.op == "once-end").unwrap();
        assert!(events[end..].iter().any(|it| found(&it)), "{:?}", &events[end..]);
    }
}

#[test]
fn a_static_variable_whose_initialiser_throws() {
    let events = record("guard_throws.cc").events();
    let expected = ["once-begin", "once-end not done", "once-begin", "once-end done"];
    assert_eq!(once(&events, "T0")[..4], expected);
}

#[test]
fn exceptions_leave_the_right_stack() {
    for (compiler, level) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang-14", "-O0")] {
        if !is_installed(compiler) {
            continue;
        }
        let recorded = subject("exception.cc").compiler(compiler).flags(&[level]).record();
        let events = recorded.events_with_stacks();
        assert_eq!(written(&events, "cleaned"), [1, 2, 3], "{compiler} {level}");
        for event in events.iter().filter(|it| it.is("write", "after")) {
            let functions = event.functions();
            let found: Vec<&str> = functions.iter().filter_map(|it| it.split('(').next()).collect();
            assert_eq!(found, ["note", "main"], "{compiler} {level}");
        }
    }
}

#[test]
fn thread_local_objects() {
    let events = record("thread_local.cc").events();
    let of = |name: &str| events.iter().position(|it| it.is("write", name) && it.thread == "T0.1");
    let end = events.iter().position(|it| it.thread == "T0.1" && it.op == "end");
    assert!(of("made").is_some() && of("made") < of("destroyed") && of("destroyed") < end);
    assert_eq!((written(&events, "made"), written(&events, "destroyed")), (vec![1], vec![1]));
    let number = events
        .iter()
        .find(|it| it.op == "write" && it.thread == "T0.1" && it.value.is_some_and(|it| it.0 == 5));
    assert!(number.is_some());
}

/// A program in C has no library of C++, but a library that it loads may: as another library, or as a copy of its own.
#[test]
fn a_library_in_cxx_of_a_program_in_c() {
    for own_copy in [&[][..], &["-static-libstdc++", "-static-libgcc"]] {
        let folder = tempfile::tempdir().unwrap();
        let plugin = folder.path().join("plugin.so");
        let mut build = Command::new("g++");
        build.args(["-g", "-shared", "-fPIC"]).args(own_copy);
        build.arg(subjects().join("plugin_cxx.cc")).arg("-o").arg(&plugin);
        assert!(run(build).status.success());
        let recorded = subject("plugin_host.c").arguments(&[&plugin]).record();
        assert_eq!(recorded.ran.stdout, "326\n321\n");
    }
}
