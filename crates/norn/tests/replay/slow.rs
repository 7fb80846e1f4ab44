//! A schedule is deterministic on slow machines, too.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::kit::{Subject, run, subject};

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
