//! `norn.toml` and environment variables.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{Ran, command, folder, lost_update, run};

fn norn(words: &[&str], folder: &TempDir, variables: &[(&str, &str)]) -> Ran {
    run(command(words, folder.path()).envs(variables.iter().copied()))
}

/// The baseline that a hunt tries to read. It does not exist, which ends the hunt.
fn baseline(options: &[&str], variables: &[(&str, &str)], toml: &str) -> String {
    let folder = folder(&[("norn.toml", toml)]);
    let ran = norn(&[&["hunt"], options, &["./missing"]].concat(), &folder, variables);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    ran.stderr.replace(&format!("{}/", folder.path().display()), "[folder]/")
}

#[test]
fn options_precede_the_environment_and_the_configuration() {
    let (toml, variable) = ("baseline = 'file.json'", [("NORN_BASELINE", "variable.json")]);
    let all = baseline(&["--baseline", "option.json"], &variable, toml);
    assert!(all.contains("`option.json`"), "{all}");
    let two = baseline(&[], &variable, toml);
    assert!(two.contains("`variable.json`"), "{two}");
    let one = baseline(&[], &[], toml);
    assert!(one.contains("`[folder]/file.json`"), "{one}");
    let none = baseline(&[], &[], "");
    assert!(none.starts_with("norn: cannot run `./missing`"), "{none}");
}

#[test]
fn the_configuration_file_can_be_chosen_or_disabled() {
    let folder = folder(&[
        ("norn.toml", "command = ['./nearest']"),
        ("other/norn.toml", "command = ['./other']"),
    ]);
    let program = |options: &[&str], variables: &[(&str, &str)]| {
        let ran = norn(&[options, &["hunt"]].concat(), &folder, variables);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        ran.stderr
    };
    assert!(program(&[], &[]).contains("/nearest`"));
    assert!(program(&["--config", "other/norn.toml"], &[]).contains("/other/other`"));
    assert!(program(&["--no-config"], &[]).contains("<PROGRAM>"));
    let [file, no] = [("NORN_CONFIG", "other/norn.toml"), ("NORN_NO_CONFIG", "1")];
    assert!(program(&[], &[file]).contains("/other/other`"));
    assert!(program(&[], &[no]).contains("<PROGRAM>"));
    assert!(program(&["--no-config"], &[file]).contains("<PROGRAM>"));
    assert!(program(&["--config", "other/norn.toml"], &[no]).contains("/other/other`"));
    let missing = program(&["--config", "missing.toml"], &[]);
    assert!(missing.starts_with("norn: cannot read the configuration `missing.toml`"), "{missing}");
}

#[test]
fn an_unknown_key_is_an_error() {
    let folder = folder(&[("norn.toml", "jobs = 2\nbuget = 7\n"), ("inner/file", "")]);
    let ran = run(&mut command(&["info", "x"], &folder.path().join("inner")));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let expected = "/norn.toml:2:1: unknown key `buget`\nhint: did you mean `budget`?\n";
    assert!(ran.stderr.ends_with(expected), "{ran:?}");
}

/// Help and completions must work even then.
#[test]
fn a_broken_file_does_not_hide_help() {
    let folder = folder(&[("norn.toml", "budget = ")]);
    assert_eq!(norn(&["hunt", "--help"], &folder, &[]).code, Some(0));
    assert_eq!(norn(&["--version"], &folder, &[]).code, Some(0));
    assert_eq!(norn(&["completions", "bash"], &folder, &[]).code, Some(0));
    assert_eq!(norn(&["hunt", "./prog"], &folder, &[]).code, Some(2));
}

#[test]
fn a_project_can_be_hunted_without_arguments() {
    let toml = "command = ['prog.c']\nformat = 'json'\nbudget = 30\njobs = 2\ntimeout = 20\n\
                suppressions = ['known.supp']\n";
    let folder = folder(&[("norn.toml", toml), ("known.supp", "*:nothing\n"), ("inner/file", "")]);
    fs::copy(lost_update(), folder.path().join("prog.c")).unwrap();
    let inner = folder.path().join("inner");
    let ran = run(&mut command(&["hunt"], &inner));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(json["summary"]["executions"].as_u64().unwrap() <= 30, "{json}");
    assert!(inner.join("run.norn").is_dir(), "the output is where norn was started");
    let ran = run(command(&["hunt", "--explore", "0"], &inner).env("NORN_BUDGET", "1"));
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(json["summary"]["executions"].as_u64().unwrap() <= 2, "{json}");
}

/// The configured compiler is used in `norn cc`, in builds and in hunts.
#[test]
fn the_configuration_chooses_the_compiler() {
    let folder = folder(&[
        ("norn.toml", "[compiler]\ncc = './missing-cc'\n"),
        ("prog.c", "int main(void) { return 0; }\n"),
    ]);
    for words in
        [&["cc", "-c", "prog.c"][..], &["build", "gcc", "-c", "prog.c"], &["hunt", "prog.c"]]
    {
        let ran = norn(words, &folder, &[]);
        assert_ne!(ran.code, Some(0), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("missing-cc"), "{words:?}: {ran:?}");
    }
    let ran = norn(&["cc", "-c", "prog.c"], &folder, &[("NORN_CC", "gcc")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = norn(&["--no-config", "build", "gcc", "-c", "prog.c"], &folder, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
