//! Deadlocks: a cycle that cannot happen is not tried, and a real one is confirmed whatever the
//! compiler.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use norn_e2e::tool::installed;

use crate::kit::{command, hunt, norn_hunt, run, subjects};

/// A gate lock, the order of threads, readers only, trylocks, correctly checked conditions.
#[test]
fn guarded_cycles_are_not_predicted() {
    let guarded = [
        "crossing_fixed.c",
        "builder_fixed.c",
        "rw_cycle_fixed.c",
        "swap_fixed.cc",
        "listeners_fixed.cc",
        "wait_holding_fixed.c",
        "flag_outside_fixed.c",
        "bare_signal_fixed.c",
        "mailbox_fixed.cc",
    ];
    for name in guarded {
        let hunt = hunt(&subjects("deadlock").join(name), 0);
        let found: Vec<_> = hunt.findings().iter().filter(|it| is_deadlock(it)).collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn deadlocks_are_confirmed_with_every_compiler() {
    let names = [
        "two_locks.c",
        "bank.c",
        "rw_cycle.c",
        "wait_holding.c",
        "bare_signal.c",
        "swap.cc",
        "listeners.cc",
    ];
    for compiler in installed(["gcc", "clang-14"]) {
        for level in ["-O0", "-O2"] {
            for name in names {
                let first = first_deadlock(name, compiler, level);
                assert!(first.is_some_and(|it| it <= 3), "{name} {compiler} {level}: {first:?}");
            }
        }
    }
}

/// The execution in which a predicted deadlock was confirmed, if only deadlocks are searched.
fn first_deadlock(name: &str, compiler: &str, level: &str) -> Option<u64> {
    let folder = tempfile::tempdir().unwrap();
    let program = build(&folder, name, compiler, level);
    let options = ["--only", "deadlock", "--explore", "0", "--format", "json", "--", &program];
    let ran = norn_hunt(options, &folder);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.iter().all(is_deadlock), "{findings:#?}");
    let hangs = findings.iter().filter(|it| it["consequence"] == "deadlock");
    hangs.filter_map(|it| it["executions"].as_u64()).min()
}

fn is_deadlock(finding: &Value) -> bool {
    finding["class"] == "deadlock"
}

fn build(folder: &TempDir, name: &str, compiler: &str, level: &str) -> String {
    let (word, variable, compiler) = match Path::new(name).extension() {
        Some(it) if it == "cc" => {
            ("c++", "NORN_CXX", compiler.replace("clang", "clang++").replace("gcc", "g++"))
        }
        _ => ("cc", "NORN_CC", compiler.to_owned()),
    };
    let mut command = command(word);
    command.args(["-g", "-pthread", level, "-o", "program"]).arg(subjects("deadlock").join(name));
    command.env(variable, compiler).current_dir(folder.path());
    let ran = run(command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder.path().join("program").to_string_lossy().into_owned()
}
