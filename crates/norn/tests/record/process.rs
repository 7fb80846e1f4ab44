//! Several processes: fork, vfork, exec; and libraries that are loaded at run time.

use std::process::Command;

use serde_json::{Value, json};

use crate::kit::{Recorded, record, run, subject, subjects, written};

fn processes(recorded: &Recorded) -> Vec<Value> {
    recorded.info()["processes"].as_array().unwrap().clone()
}

fn ends(recorded: &Recorded) -> Vec<Value> {
    processes(recorded).iter().map(|it| it["end"].clone()).collect()
}

#[test]
fn forked_children_have_traces_of_their_own() {
    let recorded = record("fork.c");
    assert_eq!(ends(&recorded), [json!({"exited": 0}), json!({"exited": 8}), json!({"exited": 7})]);
    let of = |process: u32| written(&recorded.events_of(process), "shared");
    assert_eq!((of(0), of(1), of(2)), (vec![1, 4], vec![2], vec![3]));
    let events = recorded.events();
    let fork = events.iter().find(|it| it.op == "process-fork").unwrap();
    assert_eq!((&*fork.thread, fork.process), ("T0.1", Some(1)));
    assert!(recorded.events_of(1).iter().all(|it| it.thread == "T0"));
    let fork = recorded.events_of(1).into_iter().find(|it| it.op == "process-fork").unwrap();
    assert_eq!(fork.process, Some(2));
}

#[test]
fn a_child_inherits_no_lock_of_the_runtime() {
    let recorded = record("fork_locks.c");
    assert_eq!(processes(&recorded).len(), 51);
    for process in [1, 25, 50] {
        let events = recorded.events_of(process);
        assert_eq!(events.iter().filter(|it| it.is("atomic-rmw", "total")).count(), 100);
    }
}

#[test]
fn threads_that_fork_at_the_same_time() {
    let recorded = record("fork_threads.c");
    assert_eq!(processes(&recorded).len(), 201);
    let cells = (1..=200).map(|it| written(&recorded.events_of(it), "cell"));
    let mut cells: Vec<Vec<u128>> = cells.collect();
    cells.sort();
    assert!(cells.into_iter().eq((1..=200).map(|it| vec![it])));
}

/// Processes beyond the limit run unrecorded, and their number is reported.
#[test]
fn processes_beyond_the_limit_run_unrecorded() {
    let subject = subject("many_processes.c").not_compared();
    let recorded = subject.record();
    assert_eq!(recorded.ran.stdout, subject.run_native().stdout);
    assert_eq!(recorded.ran.stderr, "norn: 78 processes after the first 1024 were not recorded\n");
    let info = recorded.info();
    assert_eq!(info["unrecorded_processes"], json!(78));
    assert!(
        recorded
            .norn(&["info"])
            .stdout
            .ends_with("\nmissing\n  78 processes after the first 1024\n")
    );
    let forks: Vec<u64> = recorded.events().iter().filter_map(|it| it.process).collect();
    assert!(forks[..1023].iter().copied().eq(1..=1023));
    assert_eq!(forks[1023..], [u64::from(u32::MAX); 77]);
    assert!(recorded.events().iter().all(|it| it.op != "end"));
    for process in [1, 500, 1023] {
        assert_eq!(written(&recorded.events_of(process), "cell"), [u128::from(process)]);
    }
}

/// The recorder closes all files of an ended process.
#[test]
fn processes_one_after_another_need_few_files() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subject("fork_locks.c");
    let recorder = subject.recorder(&subject.build(), folder.path());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 30 && exec \"$@\"", "sh"]).current_dir(folder.path());
    command.arg(recorder.get_program()).args(recorder.get_args());
    let recorded = Recorded::new(run(command), folder);
    assert_eq!((&*recorded.ran.stderr, recorded.ran.status.code()), ("", Some(0)));
    assert_eq!(processes(&recorded).len(), 51);
    let events = recorded.events_of(50);
    assert_eq!(events.iter().filter(|it| it.is("atomic-rmw", "total")).count(), 100);
}

#[test]
fn vfork_and_spawn() {
    let recorded = record("vfork_exec.c");
    assert_eq!(written(&recorded.events(), "step"), [1, 2, 3]);
    assert_eq!(ends(&recorded), [json!({"exited": 0}), json!({"exited": 5}), json!({"exited": 5})]);
    for process in [1, 2] {
        assert_eq!(written(&recorded.events_of(process), "step"), [10]);
    }
}

#[test]
fn a_vfork_whose_exec_fails() {
    let recorded = record("vfork_fails.c");
    assert_eq!(recorded.written("step"), [1, 2]);
    assert_eq!(ends(&recorded), [json!({"exited": 0})]);
}

#[test]
fn exec_begins_another_trace() {
    let recorded = record("exec.c");
    let exec = json!("exec");
    assert_eq!(ends(&recorded), [exec.clone(), exec.clone(), exec, json!({"exited": 4})]);
    for process in 0..4 {
        assert_eq!(written(&recorded.events_of(process), "step"), [u128::from(process)]);
    }
}

#[test]
fn programs_without_instrumentation_run_as_before() {
    let recorded = record("shell.c");
    assert_eq!(processes(&recorded).len(), 1);
    assert_eq!(recorded.written("step"), [1, 2]);
}

#[test]
fn a_child_that_outlives_its_parent_is_waited_for() {
    record("orphan.c");
    // Several runs, since the parent may end before its child has begun or after.
    let subject = subject("orphan.c").not_compared();
    for _ in 0..10 {
        let recorded = subject.record();
        assert!(written(&recorded.events_of(1), "count").into_iter().eq(1..=1000));
        assert_eq!(recorded.info()["complete"], json!(true));
    }
}

#[test]
fn a_library_loaded_at_run_time_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("plugin.so");
    let mut build = crate::kit::norn(["cc", "-g", "-shared", "-fPIC"]);
    build.arg(subjects().join("plugin.c")).arg("-o").arg(&plugin).env("NORN_CC", "gcc");
    assert!(run(build).status.success());
    // The plugin needs the hooks of the program, so there is no plain program to compare to.
    let recorded = subject("plugin_host.c").arguments(&[&plugin]).not_compared().record();
    assert_eq!(recorded.ran.stdout, "3\n4\n");
    let events = recorded.events();
    assert_eq!(written(&events, "plugin_state"), [3, 4]);
    let sites = events.iter().filter(|it| it.is("write", "plugin_state"));
    for site in sites.map(|it| it.site.clone().unwrap()) {
        assert_eq!((site.function.as_deref(), site.line), (Some("plugin_run"), Some(5)));
        assert!(site.file.unwrap().ends_with("plugin.c"));
    }
}

#[test]
fn the_ends_of_children_are_recorded() {
    let recorded = record("fork_return.c");
    let expected =
        [json!({"exited": 0}), json!({"exited": 9}), json!({"exited": 10}), json!("unknown")];
    assert_eq!(ends(&recorded), expected);
}

#[test]
fn static_programs() {
    for (name, flags) in [
        ("locked.c", &["-static"][..]),
        ("locked.c", &["-no-pie"]),
        ("mutex.cc", &["-static", "-std=c++17"]),
    ] {
        let recorded = subject(name).flags(flags).record();
        let locks = recorded.events().iter().filter(|it| it.op == "acquire").count();
        assert!(locks >= 8, "{name} {flags:?}: {locks}");
        if name == "locked.c" {
            assert!(recorded.written("total").into_iter().eq(1..=10_000), "{flags:?}");
        }
    }
}
