//! A schedule is deterministic on slow machines, too.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::kit::{Ran, Subject, run, subject};

/// Replays `clip.json` repeatedly, and returns the kinds of runs.
fn kinds(mut command: Command, times: u64) -> Vec<Value> {
    let words = ["replay", "-j", "6", "--timeout", "20", "--format", "json", "--times"];
    command.args(words).arg(times.to_string()).arg("clip.json");
    let json = run(command).json();
    assert_eq!(json["batch"]["runs"], times, "{json}");
    json["batch"]["kinds"].as_array().unwrap().clone()
}

/// All runs were the same, and depended on the schedule alone.
fn check(subject: &Subject, times: u64) {
    let kinds = kinds(subject.command([""; 0]), times);
    assert_eq!((kinds.len(), &kinds[0]["away"]), (1, &json!(0)), "{kinds:#?}");
}

#[test]
fn a_slow_thread_exit_is_deterministic() {
    let subject = subject("slow_exit.c");
    let schedule = [
        ("T0", json!({"after": "fork"})),
        ("T0.1", json!("end")),
        ("T0", json!({"before": "join"})),
    ];
    subject.write(&[], &schedule);
    check(&subject, 18);
}

#[test]
fn a_slow_system_call_is_deterministic() {
    let subject = subject("slow_fork.c");
    subject.write(&[], &[]);
    check(&subject, 12);
}

/// Builds the program that slows system calls of others down.
fn slow_calls(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/slow_calls.c");
    let program = folder.join("slow_calls");
    let mut command = Command::new("cc");
    command.args(["-O2", "-Wall", "-Werror", "-o"]).arg(&program).arg(source);
    let ran = run(command);
    assert!(ran.status.success(), "{ran:?}");
    program
}

/// A command in which the calls of `subject` are slow.
fn slowed(subject: &Subject) -> Command {
    let norn = subject.command([""; 0]);
    let mut command = Command::new(slow_calls(subject.folder.path()));
    command.arg("subject").arg(norn.get_program()).current_dir(subject.folder.path());
    command.envs(norn.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn slow_system_calls_are_deterministic() {
    let subject = subject("lost_update.c");
    let read = subject.line("// read");
    let schedule = [
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": format!("read {read}")})),
        ("T0.2", json!("end")),
        ("T0.1", json!("end")),
    ];
    subject.write(&[], &schedule);
    let kinds = kinds(slowed(&subject), 40);
    assert_eq!(kinds.len(), 1, "{kinds:#?}");
    assert_eq!(kinds[0]["consequence"], json!({"assertion": "counter == 2"}), "{kinds:#?}");
}

/// The second thread waits in a loop without events while the first one holds the lock.
fn wait_in_assembly(until: Value) -> Ran {
    let subject = subject("assembly_lock.c");
    let line = subject.line("// count");
    let schedule = [
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"before": format!("write {line}")})),
        ("T0.2", until),
        ("T0.1", json!("end")),
        ("T0.2", json!("end")),
    ];
    subject.follow(&schedule)
}

/// That a thread waits in a loop follows from its state, not from the time that it spends there.
#[test]
fn a_loop_in_assembly_is_a_wait() {
    let ran = wait_in_assembly(json!("blocks"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("followed: 5 of 5 segments"), "{ran:?}");
    let milliseconds: u64 = ran.stdout.trim().parse().unwrap();
    assert!(milliseconds < 500, "{ran:?}");
}

#[test]
fn a_schedule_that_needs_a_lock_in_assembly_is_left() {
    let ran = wait_in_assembly(json!("end"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("infeasible"), "{ran:?}");
}
