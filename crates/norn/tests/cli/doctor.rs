//! `norn doctor`.

use std::process::Command;

use serde_json::Value;

use crate::kit::{command, folder, norn, run};

fn checks(json: &Value) -> impl Iterator<Item = (&str, &str)> {
    let checks = json["checks"].as_array().unwrap().iter();
    checks.map(|it| (it["name"].as_str().unwrap(), it["level"].as_str().unwrap()))
}

/// Norn can be used on the machine that runs these tests.
#[test]
fn this_machine_passes() {
    let ran = norn(&["doctor", "--format", "json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["usable"], true, "{json}");
    let names: Vec<_> = checks(&json).map(|it| it.0).collect();
    for name in ["platform", "memfd", "ptrace", "mappings", "address space", "file size", "gcc"] {
        assert!(names.contains(&name), "{name}: {json}");
    }
    for name in ["compile", "record", "hunt", "replay"] {
        assert!(checks(&json).any(|it| it == (name, "ok")), "{name}: {json}");
    }
}

#[test]
fn a_missing_compiler_is_reported() {
    let folder = folder(&[]);
    let ran = run(command(&["doctor"], folder.path()).env("PATH", "/nowhere"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let problem = |name: &str| {
        let line = |it: &str| it.trim_start().starts_with("problem") && it.contains(name);
        ran.stdout.lines().any(line)
    };
    assert!(problem("gcc") && problem("clang") && problem("compile"), "{}", ran.stdout);
    assert!(ran.stdout.contains("hint: to compile C, install gcc 12"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nnorn cannot be used; "), "{}", ran.stdout);
}

#[test]
fn a_low_address_space_limit_is_reported() {
    let folder = folder(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_norn")]);
    shell.args(["doctor", "--format", "json"]);
    let ran = run(shell.current_dir(folder.path()));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(checks(&json).any(|it| it == ("address space", "problem")), "{json}");
}

/// Neither the project's defaults nor the user's change what is tested.
#[test]
fn the_configuration_does_not_affect_the_self_test() {
    let folder = folder(&[("norn.toml", "command = ['./missing']\ntimeout = 1\n")]);
    let mut command = command(&["doctor"], folder.path());
    let ran = run(command.env("NORN_BUDGET", "1").env("NORN_FORMAT", "text"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("\nself-test\n  ok       compile"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nnorn can be used"), "{}", ran.stdout);
}
